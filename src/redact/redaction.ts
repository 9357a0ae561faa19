// One reviewer's redactor: the same one for as long as nothing that it works by has changed, so that a secret keeps its name.

import type { Config } from '../config/schema.ts'
import type { Hider } from '../observe/hide.ts'
import { Redactor } from './redactor.ts'

export class Redaction {
  /** Values that are secret because the host keeps them as such. Never rejects. */
  private readonly secrets: () => Promise<readonly string[]>
  private current: { readonly key: string, readonly redactor: Redactor } | undefined

  constructor(secrets: () => Promise<readonly string[]>) {
    this.secrets = secrets
  }

  /** What hides secrets now; none when the user switched that off. */
  async hider({ redact, redactPatterns }: Pick<Config, 'redact' | 'redactPatterns'>): Promise<Hider | undefined> {
    if (!redact) return undefined
    const known = await this.secrets()
    const key = JSON.stringify([redactPatterns, known])
    if (this.current?.key !== key) this.current = { key, redactor: new Redactor({ patterns: redactPatterns, known }) }
    return this.current.redactor
  }
}
