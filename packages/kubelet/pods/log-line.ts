/** One line of a container log: `<time> <stream> <F or P> <text>`. */
export interface LogLine {
  /** RFC 3339 with nanoseconds, as the runtime wrote it. */
  readonly time: string
  readonly stream: 'stdout' | 'stderr'
  /** With its line break; without one where the runtime cut a long line. */
  readonly text: string
}

/** Undefined for a torn or foreign line. */
export function parseLogLine(line: string): LogLine | undefined {
  const match = /^(\S+) (stdout|stderr) ([FP])(?::\S*)? (.*)$/s.exec(line)
  if (!match) return undefined
  const [, time = '', stream, tag, text = ''] = match
  return {
    time,
    stream: stream === 'stderr' ? 'stderr' : 'stdout',
    text: tag === 'F' ? `${text}\n` : text,
  }
}
