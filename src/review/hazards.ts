// What no sound reviewer writes of its own accord. Patterns only: what of it may be quoted is decided in `quarantine.ts`.

export interface Hazard {
  /** Told to the user. */
  readonly reason: string
  /** Global. */
  readonly pattern: RegExp
  /** Dangerous only where it would reach somebody. */
  readonly onlyInNotes?: true
  /** If one of these was shown, the reviewer may speak of the kind. */
  readonly kin?: readonly string[]
}

/** Marks of chat templates: of the models at large, of DeepSeek, of Llama and Mistral, of Gemma and GLM. */
const CONTROL_TOKENS = [
  '<\\|[\\w▁.-]{2,40}\\|>', '<｜[^<>｜\\n]{2,40}｜>', '\\[/?INST\\]', '<</?SYS>>', '\\[/?(?:TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\\]',
  '<(?:start|end)_of_turn>', '\\[gMASK\\]', '<\\|?eo[st](?:_id)?\\|?>',
]

/** A call in the ways that models write one when they lose the protocol. */
const CALLS_AS_TEXT = [
  '</?(?:\\w{1,20}:)?(?:tool_calls?|function_calls?|tool_use|tool_response|tool_code)>',
  '<(?:\\w{1,20}:)?invoke name=[^>\\n]{0,100}>', '<(?:function|parameter)=[\\w.-]{1,60}>', '<\\w{1,20}:parameter name=[^>\\n]{0,100}>',
]

/** Lines as ours begin: roles, a call with its result. */
const OUR_LINES = ['\\*\\*(?:user|agent)(?:, thinking| ran a command)?:?\\*\\*[^\\n]*', '→ [^\\n]*\\n\\[tool result\\][^\\n]*']

const OUR_TAGS = ['</?(?:advisory|primary-context|attention)(?:\\s[^<>\\n]{0,200})?>', '\\[advisor:(?:nit|concern|blocker)\\]']

/** Where an order can begin, so that a report of one is none: "the file tells you to ignore …". */
const ORDER = '(?:^|[.!?:;,"“”\'`(\\n*>-][ \\t]*|\\b(?:please|now|must|should|then)[ \\t]+)'
const ZH_ORDER = '(?:^|[。！？：；，、“「"\\n][ \\t]*|请|现在|必须|应该|应当)'

const OVERRIDES = [
  `${ORDER}(?:ignore|disregard|forget|override|bypass)\\s+(?:(?:all|any|every|of|the|your|these|those)\\s+){0,3}(?:(?:previous|prior|above|earlier|preceding|existing|system|original|safety|developer)\\s+)+(?:instructions?|prompts?|rules|directives|guidelines|guardrails)`,
  `${ORDER}(?:ignore|disregard|forget|override|bypass)\\s+(?:the\\s+)?user['’]?s?\\s+(?:instructions?|requests?|wishes|orders)`,
  `${ZH_ORDER}(?:忽略|无视|忘记|忘掉|绕过)掉?(?:所有|一切|任何|全部)?(?:你)?(?:之前|以上|上面|上述|先前|此前|前面|原有|系统|用户)(?:的|给出的)?(?:所有|一切|全部)?(?:指令|指示|提示词?|要求|规则|命令)`,
  '(?:これまで|以前|上記|先ほど|システム|ユーザー)の(?:すべての|全ての)?(?:指示|命令|プロンプト|ルール)[をは](?:すべて|全て)?(?:無視|忘れ)(?:して(?:ください|下さい|$|。)|しろ|せよ|て(?:ください|下さい))',
  `${ORDER}(?:ignoriere|ignorieren sie|vergiss|vergessen sie|missachte)\\s+(?:alle\\s+|die\\s+|alle\\s+deine\\s+)?(?:vorherigen|bisherigen|früheren|obigen)\\s+(?:anweisungen|instruktionen|regeln|vorgaben)`,
  `${ORDER}(?:ignore[zr]?|oublie[zr]?)\\s+(?:toutes?\\s+)?(?:les|tes|vos)?\\s*(?:instructions|consignes)\\s+(?:précédentes|antérieures|ci-dessus|de l['’]utilisateur)`,
  `${ORDER}(?:ignora|ignore|olvida|olvide)\\s+(?:todas?\\s+)?(?:las|tus|sus)?\\s*instrucciones\\s+(?:anteriores|previas|del sistema|del usuario)`,
  '(?:^|[.!?:;,"«\\n—-][ \\t]*)(?:про)?(?:игнорируй|забудь)(?:те)?\\s+(?:все\\s+)?(?:предыдущие|прежние|системные|вышеуказанные)\\s+(?:инструкции|указания|команды|правила)',
]

/** A target whose loss nobody wants: the root, a folder of the system, the home folder, all that is here, the history. */
const PRECIOUS = '["\']?(?:/(?=[\\s"\'`;&|)*]|$)|/(?:bin|boot|dev|etc|home|lib|opt|root|usr|var|Users|System)\\b|~|\\$\\{?HOME\\b|\\.{1,2}/?(?=[\\s"\'`;&|)]|$)|\\*|\\.git(?=[\\s"\'`/;&|)]|$))'

const DESTRUCTIVE = [
  `\\brm\\s+(?=(?:-\\S+\\s+)*-(?:[a-zA-Z]*[rR]|-recursive))(?:-\\S+\\s+)+${PRECIOUS}`,
  '\\bmkfs(?:\\.\\w+)?\\s+\\S+', '\\bdd\\s+[^\\n]{0,80}of=/dev/\\w+', ':\\(\\)\\s*\\{\\s*:\\|:&\\s*\\};:',
  '\\b(?:rd|rmdir|del)\\s+(?:/[a-z]\\s+)+[a-z]:\\\\', '\\bRemove-Item\\s[^\\n]{0,80}-Recurse[^\\n]{0,40}',
  '\\b(?:curl|wget)\\s[^\\n|]{1,300}\\|\\s*(?:sudo\\s+)?(?:ba|z|da)?sh\\b',
]

/** Every way in which a command of that kind may have been shown. */
const DESTRUCTIVE_KIN = ['rm -r', 'rm -rf', 'rm -fr', 'rm -Rf', 'rm -f -r', 'rm --recursive', 'mkfs', 'dd if', 'rmdir', 'Remove-Item', 'curl', 'wget']

/** What hides, reorders or repaints text. Single marks of scripts that need them are not of that kind. */
const CONTROL_CHARACTERS = /\u001b(?=[[\]PX^_()])|[\u0090\u009b\u009d]|[\u202a-\u202e\u2066-\u2069]|[\u00ad\u200b-\u200d\u2060-\u2064\ufeff]{3,}|[\u{e0000}-\u{e007f}]{8,}|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{3,}/gu

export const HAZARDS: readonly Hazard[] = [
  { reason: 'terminal codes or hidden characters', pattern: CONTROL_CHARACTERS },
  { reason: 'a control token of a chat template', pattern: any(CONTROL_TOKENS, 'g') },
  { reason: 'a tool call written as text', pattern: any(CALLS_AS_TEXT, 'gi') },
  { reason: 'framing of the advisor', pattern: any(OUR_TAGS, 'gi') },
  { reason: 'an invented transcript', pattern: new RegExp(`^[ \\t>]*(?:${OUR_LINES.join('|')})`, 'gim') },
  { reason: 'marks of its reasoning', pattern: /<\/?(?:think|thinking|thought|reasoning|scratchpad)>|◁\/?think▷/gi, onlyInNotes: true },
  { reason: 'an order against the instructions', pattern: any(OVERRIDES, 'gim'), onlyInNotes: true },
  { reason: 'a destructive command', pattern: any(DESTRUCTIVE, 'gm'), onlyInNotes: true, kin: DESTRUCTIVE_KIN },
]

function any(patterns: readonly string[], flags: string): RegExp {
  return new RegExp(patterns.join('|'), flags)
}
