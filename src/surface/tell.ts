// Words for the user beside the conversation. A headless run has only stderr; elsewhere a screen owns it.

import type { Context } from '@deepseek-ai/cordis'

/** The host's service that only a headless run has. */
const HEADLESS_SERVICE = 'headlessStartup'

/** Lines kept for a headless run that has not declared itself yet: the host's rows mount side by side, and ours may be first. */
const EARLY_LINES = 20

export interface Teller {
  readonly headless: boolean
  /** Say one thing to the user; stdout is never touched. */
  tell(text: string): void
}

export function createTeller(ctx: Context): Teller {
  let early: string[] = []
  const isHeadless = () => ctx.get(HEADLESS_SERVICE) !== undefined
  const toStderr = (text: string) => { process.stderr.write(`dsh-advisor: ${text}\n`) }
  ctx.inject([HEADLESS_SERVICE], () => {
    for (const text of early) toStderr(text)
    early = []
  })
  return {
    get headless() { return isHeadless() },
    tell(text) {
      if (isHeadless()) return toStderr(text)
      ctx.logger.warn(`advisor: ${text}`)
      early = [...early, text].slice(-EARLY_LINES)
    },
  }
}
