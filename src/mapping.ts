// One question about values that were parsed out of JSON or YAML, which may be anything.

/** Whether a parsed value is a mapping of keys, and neither a list nor nothing. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
