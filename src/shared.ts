// What a session of the advisor gets from outside: the host's services, the plugin's own stores, and who keeps it among others.

import type { Agent } from '@deepseek-ai/dsh-agent'
import type { Clock } from './clock.ts'
import type { ConfigSource } from './config/resolve.ts'
import type { Host } from './host.ts'
import type { SessionRecord } from './record/session-record.ts'
import type { ModelService } from './review/call.ts'
import type { Toolbox } from './review/tools/toolbox.ts'
import type { Roster } from './roster/advisor.ts'
import type { TrustStore } from './roster/trust.ts'
import type { AdvisedSession } from './session.ts'

/** What all sessions of a host share. */
export interface Shared {
  readonly llm: ModelService
  readonly clock: Clock
  readonly host: Host
  source(): ConfigSource
  /** The host's rules of plan mode for an agent, where they can be read. */
  planRules(agent: Agent): Promise<string | undefined>
  /** What is written down about an agent's session. @param after - resolves when its record in this host has ended. */
  record(agent: Agent, parent: SessionRecord | undefined, after: Promise<void> | undefined): SessionRecord
  /** All sessions are closed. */
  close(): Promise<void>
  /** Values that the host keeps as secrets. Never rejects. */
  secrets(): Promise<readonly string[]>
  /** What the reviewers of an agent look with. */
  toolbox(agent: Agent): Toolbox
  /** What the user trusted, one for the host: its changes go one after the other. */
  readonly trust: TrustStore
  /** Reads the WATCHDOG files of one working folder, again on each call; `trusted` is `trustedWorkspaces`. Never rejects. */
  rosterReader(cwd: string | undefined): { read(trusted: readonly string[]): Promise<Roster> }
}

/** Who keeps a session among others. */
export interface Keeper {
  /** The session's files say something new; whether it reviews at all may have changed. */
  onNews(session: AdvisedSession): void
  /** The session that a subagent works for, where it is known. */
  parentOf(agent: Agent): AdvisedSession | undefined
  /** Tell the user something that other sessions may have to tell too. */
  tellOnce(line: string): void
}
