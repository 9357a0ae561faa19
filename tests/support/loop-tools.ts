/**
 * Small real tools for the primary, shaped like the host's own file and shell tools but backed by what a test scripts.
 * They touch no disk and start no process.
 */
import type { Context } from '@deepseek-ai/cordis'
import { defineTool } from '@deepseek-ai/dsh-tools'

/** What the scripted tools return. Each may throw: the model then sees an error result. */
export interface ToolScripts {
  /** Text of a file. Default: `content of <path>`. */
  readonly read?: (path: string) => string | Promise<string>
  /** Output of a command. Default: `ran: <command>`. */
  readonly bash?: (command: string) => string | Promise<string>
}

/** Register `read`, `edit`, `bash` and `fails` for every agent. */
export function registerTools(ctx: Context, scripts: ToolScripts = {}): void {
  const read = scripts.read ?? (path => `content of ${path}`)
  const bash = scripts.bash ?? (command => `ran: ${command}`)

  ctx.tools.register(defineTool({
    name: 'read',
    description: 'Read a file.',
    parameters: { file_path: { type: 'string', required: true } },
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
    isConcurrencySafe: () => true,
    execute: async args => read(args.file_path),
  }))

  ctx.tools.register(defineTool({
    name: 'edit',
    description: 'Replace text in a file.',
    parameters: {
      file_path: { type: 'string', required: true },
      old_string: { type: 'string', required: true },
      new_string: { type: 'string', required: true },
    },
    output: {
      schema: { type: 'string' },
      render: (_args, value) => [{ type: 'text', text: value }],
      presentationMeta: args => ({
        diffs: [{ path: args.file_path, oldText: args.old_string || null, newText: args.new_string }],
      }),
    },
    execute: async args => `The file ${args.file_path} has been updated successfully.`,
  }))

  ctx.tools.register(defineTool({
    name: 'bash',
    description: 'Run a command.',
    parameters: { command: { type: 'string', required: true } },
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
    execute: async args => bash(args.command),
  }))

  ctx.tools.register(defineTool({
    name: 'fails',
    description: 'Fail with the given message.',
    parameters: { message: { type: 'string' } },
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
    execute: async (args): Promise<string> => {
      throw new Error(args.message ?? 'it failed')
    },
  }))
}
