// The closed set of severities and the few rules about them that every folder shares.

/** How much a note matters, least first. */
export const SEVERITIES = ['nit', 'concern', 'blocker'] as const

export type Severity = (typeof SEVERITIES)[number]

/** Position in the order `nit` (0) < `concern` (1) < `blocker` (2). */
export function rank(severity: Severity): number {
  return SEVERITIES.indexOf(severity)
}

/** Read a severity that a model wrote: letter case and surrounding space do not matter; missing or unknown is `nit`. */
export function parseSeverity(value: unknown): Severity {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : ''
  return SEVERITIES.find(severity => severity === word) ?? 'nit'
}

/** Lower `severity` to `ceiling` when it lies above it. */
export function clampSeverity(severity: Severity, ceiling: Severity): Severity {
  return rank(severity) > rank(ceiling) ? ceiling : severity
}
