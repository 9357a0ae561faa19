// Whether a note is advice at all: about the work, and more than an order to stop, to wait or to be pleased. Whatever names
// something passes.

import { BARE, SPACELESS_BARE, type Bareness } from './bare-words.ts'

export type AdviceJudgement = { readonly kind: 'fine' } | { readonly kind: 'refuse', readonly reason: string }

const REASONS: Readonly<Record<Bareness, string>> = {
  order: 'an order to stop, to wait or to ask, without a reason',
  praise: 'praise or a status, not a finding',
}
const ABOUT_ITSELF = 'about the advisor, not about the work'

/** Sentences looked at; a note that goes on after them is no bare order. */
const SENTENCES_LIMIT = 40

/** Whether one note may be given at all. */
export function judgeAdvice(note: string): AdviceJudgement {
  const sentences = sentencesOf(note)
  if (sentences.length === 0 || sentences.length > SENTENCES_LIMIT) return { kind: 'fine' }
  const rest = sentences.filter(sentence => !isAboutItself(sentence))
  const bare = rest.map(barenessOf)
  if (bare.includes(undefined)) return { kind: 'fine' }
  const reason = bare.includes('order') ? REASONS.order : bare.length > 0 ? REASONS.praise : ABOUT_ITSELF
  return { kind: 'refuse', reason }
}

/** A dot ends a sentence only before a space: `a.ts` is one name. A label in front is not a part of it. */
function sentencesOf(note: string): string[] {
  return note.replace(/^\W*(?:nit|concern|blocker|note|advice)\**:\**/i, '').split(/[.!?;…]+(?:\s+|$)|[。！？；\n]+/)
    .map(sentence => sentence.trim()).filter(sentence => /[\p{L}\p{N}]/u.test(sentence))
}

/** What a sentence of nothing but empty words is; undefined when it says something. */
function barenessOf(sentence: string): Bareness | undefined {
  const key = sentence.normalize('NFKC').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ').trim()
  const words = key.split(' ')
  const alphabetic = BARE.find(({ needs, others }) => words.some(word => needs.has(word)) && words.every(word => needs.has(word) || others.has(word)))
  if (alphabetic !== undefined) return alphabetic.kind
  const joined = key.replaceAll(' ', '')
  // What is removed says nothing; the longest phrase goes first.
  return SPACELESS_BARE.find(({ needs, all }) => needs.test(joined) && joined.replace(all, '') === '')?.kind
}

function isAboutItself(sentence: string): boolean {
  const text = sentence.replace(/[’‘]/g, '\'')
  return ITSELF.some(pattern => pattern.test(text)) && !CONCRETE.test(text.replace(REFERENCE, ''))
}

/** Which note or step is meant says nothing about the work. */
const REFERENCE = /\b(?:note|advice|comment|step|update|turn|#)s?\s*#?\d+(?:\.\d+)*|第\s*\d+\s*[条步轮]/gi

/** A name, a path, a number, a quotation, or a reason. */
const CONCRETE = new RegExp([
  '`[^`]+`', '"[^"]{2,}"', '[“「『«„][^”」』»“]{2,}[”」』»“]', '\\p{N}', '\\w[./\\\\]\\w', '\\p{Ll}\\p{Lu}', '\\w_\\w', '\\w\\(', '--\\w',
  '\\b(?:because|since|otherwise|so that|or else|due to|weil|denn|sonst|damit|parce qu|sinon|puisque|porque|ya que|de lo contrario)\\b',
  '因为|由于|否则|以免|导致|ため|ので|さもない|потому|так как|иначе|поскольку',
].join('|'), 'u')

/** A reviewer that speaks of itself: in the first person, of its earlier notes, or of "this review". Languages one after another. */
const ITSELF: readonly RegExp[] = [...english(), ...chinese(), ...japanese(), ...german(), ...french(), ...spanish(), ...russian()]
  .map(pattern => new RegExp(pattern, 'iu'))

function english(): string[] {
  const me = '(?:advis[eo]r|reviewer|observer|language model|ai)'
  const mine = '(?:note|advice|comment|concern|remark|warning|review|feedback|message|blocker|nit|suggestion|instruction)s?'
  const earlier = '(?:previous|earlier|last|prior|first|other|former|above)'
  return [
    `^\\W*as (?:the|your|an?) (?:\\w+ ){0,2}${me},? (?:i\\b|my\\b)`,
    `\\bi(?: am|'m) (?:only |just |the |your |an? )*(?:\\w+ )?${me}\\b`,
    '\\bi (?:can ?not|can\'t|am unable to|will not|won\'t) (?:help|assist|comply|review|judge|verify|see|continue)\\b',
    `\\bmy (?:own )?${earlier} (?:\\w+ )?${mine}\\b`,
    `\\b(?:ignor|disregard|retract|withdraw|dr[oa]p|forg[eo]t|follow|heed|obey|read|acknowledg|repeat)(?:e|ed|ing|ping|ten)? (?:of )?my (?:\\w+ )?${mine}\\b`,
    `\\b(?:ignore|disregard|retract|withdraw|drop|forget) (?:this|that|the ${earlier}) ${mine}\\b`,
    '^\\W*(?:this|the|my) review (?:found|finds|concludes?|concluded|covers|cannot|did not find|ends|is (?:complete|done|over|finished|only))\\b',
    '^\\W*(?:please |you (?:must|should) )?(?:follow|heed|obey|trust|acknowledge|reply to|listen to|weigh) (?:the |this |your )?(?:advis[eo]ry?|advice|reviewer)s?\\b',
    `^\\W*(?:the|your) ${me} has (?:no|nothing)\\b`,
  ]
}

function chinese(): string[] {
  const me = '(?:顾问|评审者?|审查者?|审阅者?|审核者?|观察者|AI|人工智能|语言模型)'
  const mine = '(?:建议|意见|评论|备注|提醒|警告|提示)'
  return [
    `作为(?:一[个名位])?${me}[，,]?\\s*我`, `我(?:只|仅)?是(?:一?[个名位])?${me}`, '我(?:无法|不能)(?:协助|帮助|审查|评审|审阅)',
    `(?:忽略|无视|撤回|收回)掉?(?:我|本|这|上)(?:之前|先前|前面|刚才|上)?(?:一)?(?:条|个)?的?${mine}`,
    `我(?:之前|先前|上一?条|上次|前面|刚才)的?${mine}`, '^\\W*本次?(?:评审|审查|审阅|复核)', `(?:听从|采纳|遵循|回应)(?:我|顾问|评审者?)的?${mine}`,
  ]
}

function japanese(): string[] {
  const me = '(?:アドバイザー|レビュアー|レビューアー?|助言者|AI|言語モデル)'
  const mine = '(?:助言|指摘|メモ|コメント|注意|レビュー)'
  return [
    `${me}として[、,]?\\s*私`, `私は(?:ただの)?${me}`, `私の(?:前回|以前|先ほど)の${mine}`, `私の${mine}[はを](?:無視|撤回|取り消)`,
    `(?:前回|以前|先ほど)の${mine}[はを](?:無視|撤回|取り消)`, '^\\W*(?:このレビューで|本レビュー[はで])',
  ]
}

function german(): string[] {
  const me = '(?:berater|advisor|reviewer|gutachter|ki|sprachmodell)'
  const mine = '(?:notiz|hinweis|ratschlag|rat|anmerkung|kommentar|bedenken)'
  return [
    `\\bals (?:der |dein |ihr |ein )?${me}\\b.*\\b(?:ich|mein\\w*)\\b`, `\\bich bin (?:nur |dein |der |ein )*${me}\\b`,
    `\\bmein(?:e[nrms]?)? (?:vorherige|letzte|frühere|vorige)\\w* ${mine}`, `\\b(?:ignorier|vergiss|vergessen|befolg|beacht)\\w* (?:sie )?mein(?:e[nrms]?)? ${mine}`,
    '^\\W*dieses review (?:hat|ist|findet|endet)\\b',
  ]
}

function french(): string[] {
  const mine = '(?:notes?|remarques?|conseils?|avis|commentaires?)'
  return [
    '\\ben tant que (?:conseiller|relecteur|réviseur|advisor|ia|modèle de langage)\\b.*(?:\\bje\\b|\\bj\'|\\bm(?:on|a|es)\\b)',
    '\\bje suis (?:seulement |le |votre |ton |un )*(?:conseiller|relecteur|réviseur|advisor)\\b',
    `\\bm(?:a|on|es) (?:(?:dernière?|précédente?|première?)s? ${mine}|${mine} précédente?s?)`,
    `(?:ignore|oublie|suive|respecte)[zr]? m(?:a|on|es) ${mine}\\b`, '^\\W*cette (?:revue|relecture) (?:a|est|ne|se)\\b',
  ]
}

function spanish(): string[] {
  const mine = '(?:notas?|consejos?|comentarios?|avisos?|observaci\\w+)'
  return [
    '\\bcomo (?:el |tu |su |un )?(?:asesor|revisor|advisor|ia|modelo de lenguaje)\\b.*\\b(?:yo|mis?|me|debo|puedo|recomiendo)\\b',
    '\\bsoy (?:solo |el |tu |un )*(?:asesor|revisor|advisor)\\b', `\\bmis? (?:(?:anterior|últim|previ)\\w* ${mine}|${mine} anterior)`,
    `\\b(?:ignor|olvid|sig)[aeu]\\w? mis? ${mine}\\b`, '^\\W*esta revisión (?:no )?(?:ha )?(?:encontr|conclu|termin)',
  ]
}

function russian(): string[] {
  const me = '(?:советник|рецензент|ревьюер|консультант|языковая модель|ии)(?!\\p{L})'
  const mine = '(?:заметк|совет|замечани|комментари|примечани)'
  return [
    `(?<!\\p{L})как ${me},?\\s*я(?!\\p{L})`, `(?<!\\p{L})я (?:лишь |только |всего лишь )?${me}`,
    `(?<!\\p{L})мо[йеёяюи]\\p{L}* (?:предыдущ|прошл|последн)\\p{L}* ${mine}`, `(?:игнорируй|забудь|отзываю)(?:те)? мо[йеёяюи]\\p{L}* ${mine}`,
    '^\\W*это ревью(?!\\p{L})',
  ]
}
