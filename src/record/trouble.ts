// What the user hears of files that cannot be written: one line for each cause, however many files it spoils.

/** @param tell - for the user. @param debug - for the host's log. */
export function eachCauseOnce(tell: (line: string) => void, debug: (line: string) => void): (line: string, cause: string) => void {
  const told = new Set<string>()
  return (line, cause) => {
    if (told.has(cause)) return debug(line)
    told.add(cause)
    tell(line)
  }
}
