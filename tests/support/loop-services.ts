/**
 * The host's own services, mounted as its loader would mount them: the six that make an agent loop, and those that a
 * test asks for by name. Files live under one folder that belongs to the loop.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Context, Fiber, Plugin } from '@deepseek-ai/cordis'
import AgentRegistry from '@deepseek-ai/dsh-agent'
import * as AgentInvariant from '@deepseek-ai/dsh-agent/invariant'
import AgentLoop from '@deepseek-ai/dsh-agent-loop'
import * as AgentLoopInvariant from '@deepseek-ai/dsh-agent-loop/invariant'
import CommandRuntime from '@deepseek-ai/dsh-commands'
import * as CommandsInvariant from '@deepseek-ai/dsh-commands/invariant'
import BasicCompactionEngine from '@deepseek-ai/dsh-compaction-basic'
import type { BasicCompactionConfig } from '@deepseek-ai/dsh-compaction-basic'
import * as CompactionInvariant from '@deepseek-ai/dsh-compaction/invariant'
import LocalFileSystem from '@deepseek-ai/dsh-fs-local'
import InvariantRegistry from '@deepseek-ai/dsh-invariants'
import LlmRuntime from '@deepseek-ai/dsh-llm'
import * as LlmInvariant from '@deepseek-ai/dsh-llm/invariant'
import * as LlmRetry from '@deepseek-ai/dsh-llm-retry'
import * as LlmRetryInvariant from '@deepseek-ai/dsh-llm-retry/invariant'
import PlanModeController from '@deepseek-ai/dsh-plan-mode'
import * as PlanModeInvariant from '@deepseek-ai/dsh-plan-mode/invariant'
import * as ScopeInvariant from '@deepseek-ai/dsh-scope/invariant'
import SessionStore from '@deepseek-ai/dsh-session'
import * as SessionInvariant from '@deepseek-ai/dsh-session/invariant'
import JsonlSessionPersistence from '@deepseek-ai/dsh-session-persistence-jsonl'
import * as SettingsInvariant from '@deepseek-ai/dsh-settings/invariant'
import FileSettingsProvider from '@deepseek-ai/dsh-settings-file'
import LocalSubprocess from '@deepseek-ai/dsh-subprocess-local'
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import * as SystemPromptInvariant from '@deepseek-ai/dsh-system-prompt/invariant'
import TokenMeter from '@deepseek-ai/dsh-token-meter'
import ToolRuntime from '@deepseek-ai/dsh-tools'
import * as ToolsInvariant from '@deepseek-ai/dsh-tools/invariant'

/** Services beyond the loop itself. Everything is off unless asked for. */
export interface ServiceOptions {
  /** Text of the system prompt's persona. Default: none. */
  readonly persona?: string
  /** `ctx.commands`. */
  readonly commands?: boolean
  /** `ctx.settings` on `<home>/settings.yaml`; `yaml` is its first content, `watch` follows edits from outside. */
  readonly settings?: boolean | { readonly yaml?: string, readonly watch?: boolean }
  /** `ctx.sessionPersistence` under `<home>/sessions`. */
  readonly persistence?: boolean
  /** `ctx.tokenMeter` and `ctx.compaction`. `true` compacts only on `ctx.compaction.compactNow`. */
  readonly compaction?: boolean | BasicCompactionConfig
  /** `ctx.planMode`; a string is the guidance shown while it is on. */
  readonly planMode?: boolean | string
  /** `ctx.fs` on `<cwd>` and `ctx.subprocess`, which the host's file tools need. */
  readonly fs?: boolean
  /** What tells plugins that this is a one-shot run, which ends with the answer. */
  readonly headless?: boolean
  /** The host's retries of failed steps of the primary. */
  readonly retry?: boolean
  /** The host's own runtime checks. A broken one fails the append or the call that broke it. */
  readonly invariants?: boolean
}

const INVARIANTS = [
  AgentInvariant, AgentLoopInvariant, CommandsInvariant, CompactionInvariant, LlmInvariant, LlmRetryInvariant,
  PlanModeInvariant, ScopeInvariant, SessionInvariant, SettingsInvariant, SystemPromptInvariant, ToolsInvariant,
]

/** Mount what `options` name on a fresh root context, in dependency order. */
export async function mountServices(
  ctx: Context, home: string, cwd: string, options: ServiceOptions,
): Promise<void> {
  await mountPlugin(ctx, LlmRuntime)
  await mountPlugin(ctx, SessionStore)
  await mountPlugin(ctx, SystemPrompt, { persona: options.persona ?? '' })
  await mountPlugin(ctx, ToolRuntime, {})
  await mountPlugin(ctx, AgentRegistry)
  if (options.invariants === true) {
    await mountPlugin(ctx, InvariantRegistry, {})
    for (const companion of INVARIANTS) await mountPlugin(ctx, companion)
  }
  if (options.headless === true) {
    await mountPlugin(ctx, { name: 'headless-startup', apply: (own: Context) => void own.provide('headlessStartup', { task: 'go' }) })
  }
  if (options.settings !== undefined && options.settings !== false) {
    const { yaml, watch = false } = options.settings === true ? {} : options.settings
    const path = join(home, 'settings.yaml')
    if (yaml !== undefined) {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, yaml)
    }
    // A window of 0 would make its watcher report nothing at all.
    await mountPlugin(ctx, FileSettingsProvider, { path, watch, debounceMs: 10 })
  }
  if (options.persistence === true) await mountPlugin(ctx, JsonlSessionPersistence, { root: join(home, 'sessions') })
  if (options.commands === true) await mountPlugin(ctx, CommandRuntime)
  if (options.fs === true) {
    await mountPlugin(ctx, LocalFileSystem, { cwd })
    await mountPlugin(ctx, LocalSubprocess)
  }
  if (options.retry === true) await mountPlugin(ctx, LlmRetry, {})
  if (options.compaction !== undefined && options.compaction !== false) {
    await mountPlugin(ctx, TokenMeter, {})
    await mountPlugin(ctx, BasicCompactionEngine, options.compaction === true ? { auto: false } : options.compaction)
  }
  if (options.planMode !== undefined && options.planMode !== false) {
    const section = options.planMode === true ? 'Plan mode is on: plan, change nothing.' : options.planMode
    await mountPlugin(ctx, PlanModeController, { section })
  }
  await mountPlugin(ctx, AgentLoop, { agents: [] })
}

/** The state `ACTIVE` of a cordis fiber, whose enum the package does not export as a value. */
const ACTIVE = 2

/**
 * Mount one plugin and wait until it runs.
 * @throws when its config is refused, it throws, or a service it injects is missing.
 */
export async function mountPlugin(ctx: Context, plugin: Plugin, config?: unknown): Promise<Fiber> {
  const fiber = await (ctx.plugin as (plugin: Plugin, config?: unknown) => PromiseLike<Fiber>)(plugin, config)
  if (fiber.state === ACTIVE) return fiber
  const missing = Object.keys(fiber.inject).filter(name => ctx.get(name) === undefined)
  throw new Error(`plugin "${fiber.name}" is not active; missing services: ${missing.join(', ') || 'none'}`)
}
