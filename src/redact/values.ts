// Decides whether a value is a secret, by the name that announces it and by where it stands. How strict it is depends on how much
// the place says.

import { isDigest, isOpaque, isRandom, isStandIn, isUuid, isWordy } from './likeness.ts'
import type { NameKind } from './names.ts'

/** Where a value stands: a line of an environment, between quotes, bare after a name, after a command's option, in a sentence. */
export type Style = 'environment' | 'quoted' | 'bare' | 'option' | 'prose'

export interface Place {
  /** The value is one for certain: nothing else can stand there. */
  readonly isClear: boolean
  /** The line does nothing but set it. */
  readonly isLine: boolean
}

/** Whether a value at such a place, under such a name, is a secret. */
export function isSecretValue(whole: string, kind: NameKind, style: Style, { isClear, isLine }: Place): boolean {
  const value = whole.slice(0, JUDGED)
  if (value.length < 4 || isStandIn(value) || isPath(value) || VERSION.test(value)) return false
  if (kind === 'weak') {
    if (!isRandom(value, 16) || isUuid(value) || /\s/.test(value)) return false
    return style === 'environment' || !isDigest(value) && (style === 'quoted' || isClear && isRandom(value, 24) && !isExpression(value))
  }
  if (style === 'environment') {
    if (/^\d+$/.test(value)) return kind === 'password' && value.length >= 6
    if (/^[a-z_]+:\/\//i.test(value)) return false
    return isLine || !isWordy(value) && !isExpression(value)
  }
  if (/\s/.test(value) || /^[a-z_]+:\/\//i.test(value) || isWordy(value) && !(kind === 'password' && isWeakPassword(value))) return false
  if (kind === 'credential' && !isRandom(value, 16)) return false
  const least = kind === 'password' ? 6 : 8
  if (value.length < least || !/[a-z]/i.test(value)) return false
  switch (style) {
    case 'quoted': return kind === 'password' ? /\d|[^\w\s]/.test(value) : isOpaque(value, 8)
    case 'option': return kind === 'password' || isOpaque(value, 8)
    case 'prose': return /\d/.test(value) && !isExpression(value) && (kind === 'password' || isRandom(value, 12))
    case 'bare':
      if (isExpression(value)) return false
      if (isClear) return kind === 'password' ? /[\d!@#%^&+~]/.test(value) : isOpaque(value, 8)
      return isRandom(value, 16) && !isIdentifier(value) || kind === 'password' && value.length >= 8 && isMixed(value)
  }
}

/** Of a longer value, this much is judged. */
const JUDGED = 400
const VERSION = /^[~^<>=v ]*\d+\.(?:\d+|x)\b/

/** A word and a number: the commonest passwords, but for those of examples. */
function isWeakPassword(value: string): boolean {
  return /^[A-Za-z]{4,}\d{1,6}$/.test(value) && !USUAL_WORD.test(value)
}

const USUAL_WORD = /^(?:pass|pwd?|test|secret|token|user|foo|bar|hash|salt|utf|sha|base|md|aes|bcrypt|argon|oauth|level|line|col|arg|param|field|input|v|h)/i

/** Small and capital letters, figures and signs. */
function isMixed(value: string): boolean {
  return [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z\d]/].filter(kind => kind.test(value)).length >= 4
}

/** Whether a run of characters is a secret only because a word near it announces one. */
export function isBesideSecret(value: string): boolean {
  if (isStandIn(value) || isUuid(value) || isDigest(value) || isPath(value)) return false
  return isRandom(value, 20) && (/[a-z]/.test(value) && /[A-Z]/.test(value) || value.length >= 24)
}

/** Several words between slashes, or a name with a file's ending. */
function isPath(value: string): boolean {
  if (/^(?:\.{0,2}\/|~\/|[A-Za-z]:[\\/])/.test(value) && isWordy(value.replace(/[~:\\]/g, '/'))) return true
  if (/\.(?:pem|key|json|ya?ml|txt|js|ts|md|crt|env)$/i.test(value)) return isWordy(value)
  const parts = value.split('/')
  return parts.length > 2 && parts.every(part => part === '' || isWordy(part) || isDigest(part))
}

/** `a.b`, `a.b[0]`, `call(…)`, a block: what code has where configuration has a value. */
function isExpression(value: string): boolean {
  if (/[{}()[\];]/.test(value)) return true
  return /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+,*$/.test(value) && isWordy(value.replace(/[$?]/g, '_'))
}

function isIdentifier(value: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(value) && (value.match(/\d/g)?.length ?? 0) < 4
}
