// Words for the user beside the conversation. A headless run has only stderr; elsewhere a screen owns it.

import type { Context } from '@deepseek-ai/cordis'

/** @returns says one thing to the user; stdout is never touched. */
export function teller(ctx: Context, isHeadless: () => boolean): (text: string) => void {
  return (text) => {
    if (isHeadless()) process.stderr.write(`dsh-advisor: ${text}\n`)
    else ctx.logger.warn(`advisor: ${text}`)
  }
}
