/** One line of a container log: `<time> <stream> <F or P> <text>`. */
export interface LogLine {
  /** The time in RFC 3339 with nanoseconds, as the runtime wrote it. */
  readonly time: string
  readonly stream: 'stdout' | 'stderr'
  /** The text with its line break; without one if the runtime cut a long line. */
  readonly text: string
}

/** Returns undefined for a damaged or foreign line. */
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
