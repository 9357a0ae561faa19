// Which fiber reviews in this host. Several fibers, even from several copies of this module, may load:
// the first takes the role, the others wait in line, and the next one takes over when the holder leaves.

/** The name on `globalThis` under which all copies of this module find the same register. */
export const REVIEWER_KEY = '__dshAdvisorReviewer__'

/** The line of one host root: the holder stands first. */
type Line = { activate(): void }[]

/**
 * Ask for the reviewer role of one host.
 * @param root - the host's root context; each root has one reviewer.
 * @param activate - called once when the role is ours: now, or when those before us have left.
 * @returns gives the role, or the place in line, back; a second call does nothing.
 */
export function claimReviewer(root: object, activate: () => void): () => void {
  const lines = register()
  const line = lines.get(root) ?? []
  lines.set(root, line)
  const place = { activate }
  line.push(place)
  if (line[0] === place) activate()
  return () => {
    const index = line.indexOf(place)
    if (index < 0) return
    line.splice(index, 1)
    if (line.length === 0) lines.delete(root)
    else if (index === 0) line[0]?.activate()
  }
}

/** Whether somebody holds the role in this host. */
export function isClaimed(root: object): boolean {
  return register().has(root)
}

function register(): WeakMap<object, Line> {
  const scope = globalThis as { [REVIEWER_KEY]?: WeakMap<object, Line> }
  return scope[REVIEWER_KEY] ??= new WeakMap()
}
