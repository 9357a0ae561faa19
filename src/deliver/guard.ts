// What may be said at all: no filler, nothing twice, in no wording we can recognise, and only so much an update.

import { rank, type Severity } from '../severity.ts'

export type Admission =
  | { readonly kind: 'admit' }
  | { readonly kind: 'refuse', readonly reason: 'content-free' | 'muted' | 'repeat' | 'over budget' }

/** What was said before, compared by meaning-bearing words. */
interface Memory {
  readonly key: string
  readonly words: ReadonlySet<string>
  readonly names: ReadonlySet<string>
  severity: Severity
  /** The user dismissed it: no severity brings it back. */
  dismissed: boolean
}

/** Notes remembered in a session; the oldest is forgotten first. */
export const MEMORY_LIMIT = 4096

/** Share of common words from which two notes count as the same; less is enough when they name the same things. */
const SAME_WORDS = 0.7
const SAME_WORDS_ABOUT_THE_SAME = 0.55

/** The memory of one session, shared by its advisors. */
export class EmissionGuard {
  private readonly memory: Memory[] = []
  private readonly topics: { readonly words: string, readonly key: ReadonlySet<string> }[] = []

  /** Topics the user does not want to hear of, in the user's words. */
  get muted(): readonly string[] {
    return this.topics.map(({ words }) => words)
  }

  /**
   * Judge a note; remembers nothing.
   * @param spent - notes already admitted from this update.
   * @param budget - notes one update may yield.
   */
  admit(note: string, severity: Severity, spent: number, budget: number): Admission {
    if (isContentFree(note)) return { kind: 'refuse', reason: 'content-free' }
    if (this.isMuted(note)) return { kind: 'refuse', reason: 'muted' }
    const known = this.find(note)
    if (known !== undefined && (known.dismissed || rank(severity) <= rank(known.severity))) return { kind: 'refuse', reason: 'repeat' }
    if (spent >= budget) return { kind: 'refuse', reason: 'over budget' }
    return { kind: 'admit' }
  }

  /** Remember a note that went on; the same thing passes again only at a higher severity. */
  remember(note: string, severity: Severity): void {
    const known = this.find(note)
    if (known !== undefined) {
      if (rank(severity) > rank(known.severity)) known.severity = severity
      return
    }
    this.memory.push({ ...fingerprint(note), severity, dismissed: false })
    if (this.memory.length > MEMORY_LIMIT) this.memory.shift()
  }

  /** A note was taken back before anyone read it: it may be given again. */
  forget(note: string): void {
    const known = this.find(note)
    if (known !== undefined && !known.dismissed) this.memory.splice(this.memory.indexOf(known), 1)
  }

  /** The user wants to hear no more of a note. */
  dismiss(note: string, severity: Severity): void {
    this.remember(note, severity)
    const known = this.find(note)
    if (known !== undefined) known.dismissed = true
  }

  /** The user wants to hear nothing that holds all of these words. False when there is no word in them. */
  mute(words: string): boolean {
    const key = new Set(normalize(words).split(' ').filter(word => word !== ''))
    if (key.size === 0) return false
    this.topics.push({ words: words.trim(), key })
    return true
  }

  /** Listen to everything again. Returns how many topics were muted. */
  unmute(): number {
    return this.topics.splice(0).length
  }

  private isMuted(note: string): boolean {
    const text = normalize(note)
    const words = new Set(text.split(' '))
    return this.topics.some(({ key }) => [...key].every(word => words.has(word) || (!/^[\x00-\x7f]+$/.test(word) && text.includes(word))))
  }

  private find(note: string): Memory | undefined {
    const print = fingerprint(note)
    const alike = this.memory.filter(known => known.key === print.key || isSame(known, print))
    // What the user put away decides before all else, then the very same words, then the newest.
    return alike.find(known => known.dismissed) ?? alike.find(known => known.key === print.key) ?? alike.at(-1)
  }
}

/** Compatibility form, lower case, runs of letters and digits joined by single spaces. */
export function normalize(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ').trim()
}

/** Whether a text says nothing as a whole, in the main languages. */
export function isContentFree(text: string): boolean {
  const key = normalize(text).replace(/^(?:nit|concern|blocker|note)\b ?/, '')
  return key === '' || CONTENT_FREE.has(key) || CONTENT_FREE.has(key.replaceAll(' ', ''))
}

/** Whether two notes say the same, in whatever words. */
export function isSameFinding(a: string, b: string): boolean {
  const [one, other] = [fingerprint(a), fingerprint(b)]
  return one.key === other.key || isSame(one, other)
}

type Fingerprint = Omit<Memory, 'severity' | 'dismissed'>

function fingerprint(note: string): Fingerprint {
  const key = normalize(note)
  return { key, words: wordsOf(key), names: namesOf(note) }
}

/** Words without numbers and filler; scripts without spaces count by pairs of letters. */
function wordsOf(key: string): ReadonlySet<string> {
  const words = new Set<string>()
  for (const word of key.split(' ')) {
    if (/^\p{N}+$/u.test(word) || STOP_WORDS.has(word)) continue
    if (!/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(word)) words.add(word)
    else for (let index = 0; index < word.length - 1; index += 1) words.add(word.slice(index, index + 2))
  }
  return words
}

/** Paths, identifiers and quoted code: what a note is about. */
function namesOf(note: string): ReadonlySet<string> {
  const quoted = [...note.matchAll(/`([^`\n]+)`/g)].map(([, name]) => name ?? '')
  const bare = note.match(/[\w$-]*(?:\w[./][A-Za-z_]|[a-z][A-Z]|[A-Za-z]_[A-Za-z]|\(\))[\w$./()-]*/g) ?? []
  return new Set([...quoted, ...bare].map(normalize).map(name => name.replace(/(?: \p{N}+)+$/u, '')).filter(name => name !== ''))
}

/** Two notes that each name something the other does not are two, whatever words they share. */
function isSame(a: Fingerprint, b: Fingerprint): boolean {
  const shared = count(a.names, b.names)
  const [onlyA, onlyB] = [a.names.size - shared, b.names.size - shared]
  if (onlyA > 0 && onlyB > 0) return false
  const needed = shared > 0 && onlyA + onlyB === 0 ? SAME_WORDS_ABOUT_THE_SAME : SAME_WORDS
  const [fewer, more] = a.words.size < b.words.size ? [a.words, b.words] : [b.words, a.words]
  if (more.size === 0) return true
  if (fewer.size / more.size < needed) return false
  const common = count(fewer, more)
  return common / (a.words.size + b.words.size - common) >= needed
}

/** How many of the one set are in the other. */
function count(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let n = 0
  for (const member of a) if (b.has(member)) n += 1
  return n
}

const STOP_WORDS: ReadonlySet<string> = new Set(('a an and are as at be been but by can could do does for from had has have if in into is it its '
  + 'just no not of on or so still than that the their then there these this those to was were which will with would you your again also '
  + 'repeat reminder note warning please').split(' '))

const CONTENT_FREE: ReadonlySet<string> = new Set([
  'stop', 'halt', 'abort', 'wait', 'pause', 'done', 'complete', 'completed', 'finished', 'all done', 'continue', 'proceed', 'go on', 'go ahead',
  'carry on', 'keep going', 'ok', 'okay', 'yes', 'no', 'none', 'nothing', 'na', 'n a', 'null', 'lgtm', 'looks good', 'looks good to me', 'looks fine',
  'looks correct', 'all good', 'good', 'fine', 'great', 'nice', 'well done', 'good job', 'on track', 'no issue', 'no issues', 'no issues found',
  'no issue found', 'no issue continue', 'no issues continue', 'no problem', 'no problems', 'no concern', 'no concerns', 'no comment', 'no comments',
  'no notes', 'no note', 'no advice', 'no further input', 'no further comments', 'no further advice', 'nothing to add', 'nothing to report',
  'nothing to note', 'nothing to say', 'silent', 'silence', 'approved', 'agreed', 'correct', 'pass', 'passed', 'acknowledged', 'noted', 'no change needed',
  'no changes needed', 'no action needed', 'todo', 'tbd', 'test', 'note', 'nit', 'concern', 'blocker',
  '停', '停止', '停下', '完成', '已完成', '好', '好的', '可以', '继续', '请继续', '没问题', '没有问题', '无问题', '无', '没有', '暂无', '一切正常', '正常', '看起来不错',
  '没有建议', '无建议', '没有意见', '无意见', '没有补充', '无补充', '同意', '通过', '收到', '沉默',
  '停止してください', '完了', '問題なし', '問題ありません', '問題ない', '特になし', '続けて', '続行', 'はい', 'いいえ', '了解', '大丈夫', '異常なし',
  '없음', '문제없음', '문제없습니다', '계속', '계속하세요', '완료', '좋아요', '중지',
  'alles gut', 'kein problem', 'keine probleme', 'keine anmerkungen', 'weiter', 'fertig', 'in ordnung', 'passt', 'nichts', 'stopp',
  'rien à signaler', 'aucun problème', 'pas de problème', 'continuer', 'terminé', 'c est bon', 'rien',
  'sin problemas', 'ningún problema', 'todo bien', 'continuar', 'continúa', 'listo', 'hecho', 'nada',
  'sem problemas', 'nenhum problema', 'tudo bem', 'pronto', 'nessun problema', 'tutto bene', 'continua', 'fatto', 'niente',
  'нет проблем', 'всё хорошо', 'все хорошо', 'продолжай', 'продолжайте', 'готово', 'ничего', 'стоп', 'хорошо', 'нет',
].map(phrase => phrase.normalize('NFKC')))
