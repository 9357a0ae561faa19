// Where a text asks for another file with `@path`. Code is left alone: what stands in a span or a block is meant literally.

/** One `@path`; `end` is behind its last character. */
export interface ImportToken {
  readonly start: number
  readonly end: number
  readonly path: string
}

/** Stands for a character of code. No text that is read holds one. */
const CODE = '\0'

/**
 * Before it the text begins, or a space, a bracket or a quote stands: the `@` of an e-mail address has a letter there. A
 * sentence in Chinese goes on without a space, so that its marks end a path.
 */
const TOKEN = /(?<=^|[\s([{"'“„«（「【：，。；、])@(?!@)([^\s`<>"“”«»（）「」【】。，；、：！？\0]{1,400})/gu

/** What ends a sentence or closes a bracket is no part of a path. */
const CLOSING = /[.,;:!?)\]}'*_’]+$/

/** Find the imports of a markdown text, in its order. */
export function findImports(text: string): ImportToken[] {
  return [...maskCode(text).matchAll(TOKEN)].flatMap((match) => {
    const path = match[1]!.replace(CLOSING, '')
    return path === '' ? [] : [{ start: match.index, end: match.index + 1 + path.length, path }]
  })
}

const FENCE = /^([ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)(`{3,}|~{3,})(.*)$/
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/
const INDENTED = /^(?: {4}| {0,3}\t)/

/** The text with every character of code replaced, so that positions stay. */
function maskCode(text: string): string {
  let fence: string | undefined
  let inList = false
  let inIndented = false
  let afterBlank = true
  const lines = text.split('\n').map((line) => {
    const [, before = '', marks = '', after = ''] = FENCE.exec(line) ?? []
    if (fence !== undefined) {
      if (marks.startsWith(fence) && before.trim() === '' && after.trim() === '') fence = undefined
      return blank(line)
    }
    if (line.trim() === '') {
      afterBlank = true
      return line
    }
    if (LIST_ITEM.test(line)) inList = true
    else if (afterBlank && /^\S/.test(line)) inList = false
    // A backtick in what follows makes it a code span; below a list item, indentation continues the item.
    if (marks !== '' && !(marks.startsWith('`') && after.includes('`')) && (inList || !INDENTED.test(line))) {
      fence = marks
      return blank(line)
    }
    inIndented = INDENTED.test(line) && !inList && (inIndented || afterBlank)
    afterBlank = false
    return inIndented ? blank(line) : line
  })
  // A span ends with its paragraph, and no block of code lies in one.
  return lines.join('\n').split(/(\n[ \t]*\n|\0+)/).map(maskSpans).join('')
}

/** Code spans: from a run of backticks to the next run of the same length. */
function maskSpans(paragraph: string): string {
  const runs = [...paragraph.matchAll(/(?<!\\)`+/g)]
  const parts: string[] = []
  let at = 0
  for (let from = 0; from < runs.length; from += 1) {
    const open = runs[from]!
    let to = from + 1
    while (to < runs.length && runs[to]![0].length !== open[0].length) to += 1
    const close = runs[to]
    if (close === undefined) continue
    const end = close.index + close[0].length
    parts.push(paragraph.slice(at, open.index), blank(paragraph.slice(open.index, end)))
    at = end
    from = to
  }
  return parts.join('') + paragraph.slice(at)
}

function blank(code: string): string {
  return code.replace(/[^\n]/g, CODE)
}
