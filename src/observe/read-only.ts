// Tools of the host that only look.

/** By the names the host registers them under. A tool not named here may have changed something. */
const READ_ONLY_TOOLS: ReadonlySet<string> = new Set([
  'read', 'read_image', 'grep', 'glob', 'web_search', 'web_fetch', 'skill', 'get_goal', 'list_agents', 'job_list', 'job_output',
  'todo_write', 'ask_user_question',
])

/** Whether a tool, by its name, can only look. */
export function isReadOnly(tool: string): boolean {
  return READ_ONLY_TOOLS.has(tool)
}
