/**
 * What cordis holds: listeners by event and effects by label, of a whole context or of one fiber and all below it.
 * A test compares two snapshots to prove that a plugin left nothing behind.
 */
import type { Context, Fiber } from '@deepseek-ai/cordis'

/** Counts by name. A name that counts zero is absent, so snapshots compare with `toEqual`. */
export interface Listeners {
  /** Listeners by event name. */
  readonly events: Record<string, number>
  /** Live effects by label, such as `ctx.plugin()` or `commands.register()`, nested ones included. */
  readonly effects: Record<string, number>
}

interface Effect {
  readonly label: string
  readonly children: readonly Effect[]
}

/** Count what `ctx` holds; with `of`, only what that fiber and its descendants hold. */
export function listenersOf(ctx: Context, of?: Fiber): Listeners {
  const events: Record<string, number> = {}
  for (const [name, hooks] of Object.entries(ctx.events._hooks)) {
    for (const hook of hooks) if (within(hook.ctx.fiber, of)) count(events, name)
  }
  const effects: Record<string, number> = {}
  for (const fiber of fibersOf(ctx)) {
    if (within(fiber, of)) for (const effect of fiber.getEffects()) countTree(effects, effect)
  }
  return { events, effects }
}

/** Every live fiber of the tree, the root first. */
function fibersOf(ctx: Context): Fiber[] {
  return [ctx.root.fiber, ...[...ctx.registry.values()].flatMap(runtime => [...runtime.fibers])]
}

function within(fiber: Fiber, of: Fiber | undefined): boolean {
  if (of === undefined) return true
  for (let at = fiber; ; at = at.parent.fiber) {
    if (at.uid === of.uid) return true
    if (at.parent.fiber === at) return false
  }
}

function countTree(counts: Record<string, number>, effect: Effect): void {
  count(counts, effect.label)
  for (const child of effect.children) countTree(counts, child)
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}
