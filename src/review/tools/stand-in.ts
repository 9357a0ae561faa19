// The reviewer as the host's tools see it: like the agent it reviews, and not that agent. What a tool remembers of a
// caller is remembered of the reviewer; nothing that a tool does to its caller reaches the agent or its log.

import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { Session } from '@deepseek-ai/dsh-session'

/** Events a reviewer's call may leave in the session: the questions the user was asked, and the answers. */
const OWN_EVENTS: ReadonlySet<string> = new Set(['approval/asked', 'approval/decided'])

/** What drives an agent, and is not the reviewer's to use. */
const DRIVING: ReadonlySet<PropertyKey> = new Set(['cancel', 'followup', 'inject', 'runMaintenance', 'send', 'steer'])

/** An inbox that is always empty. */
const NO_INBOX = {
  nextTurn: [], nextStep: [], hasPending: false,
  clear() {}, append() {}, prepend() {},
  claim: () => [], splice: () => [], replace: () => false, remove: () => false,
}

/**
 * Someone with the agent's identity, options, session and rights, for one reviewer's calls.
 * @param scope - the reviewer's own context, asked for when a tool wants one.
 */
export function standInFor(agent: Agent, scope: () => Context): Agent {
  const session = viewOf(agent.session)
  return new Proxy(agent, {
    get(target, key) {
      if (key === 'session') return session
      if (key === 'inbox') return NO_INBOX
      if (key === 'ctx') return scope()
      if (DRIVING.has(key)) return refuse('a reviewer\'s tool cannot drive the agent')
      return bound(target, key)
    },
    set: () => false,
  })
}

/** The session to read, and to ask the user in. Another object, so that what is remembered by session is not the agent's. */
function viewOf(session: Session): Session {
  const append = (type: string, ...rest: unknown[]): unknown => {
    if (!OWN_EVENTS.has(type)) throw new Error(`a reviewer's tool cannot write "${type}" into the session`)
    return (session.append as (...args: unknown[]) => unknown).call(session, type, ...rest)
  }
  return new Proxy(session, {
    get: (target, key) => key === 'append' ? append : bound(target, key),
    set: () => false,
  })
}

/** A member of the real one; methods run on the real one, whose identity the host checks. */
function bound(target: object, key: PropertyKey): unknown {
  const value: unknown = Reflect.get(target, key, target)
  return typeof value === 'function' ? value.bind(target) : value
}

function refuse(reason: string): () => never {
  return () => { throw new Error(reason) }
}
