// Which fiber reviews in this host. Several fibers, even from several copies of this module, may load:
// the first takes the role, the others wait in line, and the next one takes over when the holder leaves.

/** The name on `globalThis` under which all copies of this module find the same register. */
export const REVIEWER_KEY = '__dshAdvisorReviewer__'

/** A fiber that wants the role. */
export interface Claimant {
  /** What the user knows it by. */
  readonly name: string
  /** Called once when the role is its own: at once, or when those before it have left. */
  activate(): void
}

/**
 * Ask for the reviewer role of one host.
 * @param root - the host's root context; each root has one reviewer.
 * @returns gives the role, or the place in line, back; a second call does nothing.
 */
export function claimReviewer(root: object, claimant: Claimant): () => void {
  const lines = register()
  const line = lines.get(root) ?? []
  lines.set(root, line)
  line.push(claimant)
  if (line[0] === claimant) claimant.activate()
  return () => {
    const index = line.indexOf(claimant)
    if (index < 0) return
    line.splice(index, 1)
    if (line.length === 0) lines.delete(root)
    else if (index === 0) line[0]?.activate()
  }
}

/** Who holds the role in a host. */
export function reviewerOf(root: object): Claimant | undefined {
  return register().get(root)?.[0]
}

/** By host root, the line of those who want the role: the holder stands first. */
function register(): WeakMap<object, Claimant[]> {
  const scope = globalThis as { [REVIEWER_KEY]?: WeakMap<object, Claimant[]> }
  return scope[REVIEWER_KEY] ??= new WeakMap()
}
