// Finds many fixed words in one pass over a text, letters in either case. It knows nothing of what the words announce.

/** Told of every place where a word ends; words that end at the same place come longest first. */
export type OnKeyword = (word: number, start: number, end: number) => void

/** An Aho-Corasick automaton. Words are ASCII but for the few characters that {@link KeywordScanner} gives a class. */
export class KeywordScanner {
  /** Class of each UTF-16 unit; 0 stands in no word. */
  private readonly classes = new Uint8Array(0x10000)
  private readonly lengths: readonly number[]
  private readonly width: number
  /** `next[state * width + class]`. */
  private readonly next: Uint16Array
  /** Whether words end in a state, and which. */
  private readonly isEnd: Uint8Array
  private readonly ends: readonly (readonly number[])[]

  constructor(words: readonly string[]) {
    this.lengths = words.map(word => word.length)
    this.width = this.classify(words)
    const trie = [new Map<number, number>()]
    const ends: number[][] = [[]]
    for (const [index, word] of words.entries()) {
      let node = 0
      for (let at = 0; at < word.length; at += 1) {
        const unit = this.classes[word.charCodeAt(at)]!
        let child = trie[node]!.get(unit)
        if (child === undefined) {
          child = trie.push(new Map()) - 1
          ends.push([])
          trie[node]!.set(unit, child)
        }
        node = child
      }
      ends[node]!.push(index)
    }
    this.next = new Uint16Array(trie.length * this.width)
    this.link(trie, ends)
    this.ends = ends
    this.isEnd = Uint8Array.from(ends, list => list.length)
  }

  /** Call `found` for every word in the text, in the order of where they end. */
  scan(text: string, found: OnKeyword): void {
    const { classes, next, isEnd, ends, width, lengths } = this
    let state = 0
    for (let at = 0; at < text.length; at += 1) {
      state = next[state * width + classes[text.charCodeAt(at)]!]!
      if (isEnd[state] === 0) continue
      for (const word of ends[state]!) found(word, at + 1 - lengths[word]!, at + 1)
    }
  }

  private classify(words: readonly string[]): number {
    let count = 1
    for (const unit of new Set(words.join('').toLowerCase())) {
      const upper = unit.toUpperCase()
      this.classes[unit.charCodeAt(0)] = count
      if (upper.length === 1) this.classes[upper.charCodeAt(0)] = count
      count += 1
    }
    return count
  }

  /** Fill the table breadth first: what no child answers, the longest proper suffix does. */
  private link(trie: readonly ReadonlyMap<number, number>[], ends: number[][]): void {
    const { next, width } = this
    const fail = new Uint32Array(trie.length)
    const queue: number[] = []
    for (const [unit, child] of trie[0]!) {
      next[unit] = child
      queue.push(child)
    }
    for (let head = 0; head < queue.length; head += 1) {
      const node = queue[head]!
      const suffix = fail[node]!
      ends[node]!.push(...ends[suffix]!)
      next.copyWithin(node * width, suffix * width, (suffix + 1) * width)
      for (const [unit, child] of trie[node]!) {
        fail[child] = next[suffix * width + unit]!
        next[node * width + unit] = child
        queue.push(child)
      }
    }
  }
}
