/** The lines of the logs of some pods, put together, bounded, and followed over breaks of the way. */
import { viewLimits } from '../limits-table.ts'

export interface LogLine {
  /** Counts up, and stays the line's own. */
  readonly id: number
  /** `pod/container`. */
  readonly source: string
  /** The time at which the runtime wrote it (RFC 3339 with fractions); empty for a mark of our own. */
  readonly time: string
  readonly text: string
  /** A mark between lines, because some may be missing. */
  readonly isGap?: boolean
}

const { logLinesMax, logLineCharsMax } = viewLimits

export class LogTail {
  #lines: LogLine[] = []
  #nextId = 0
  #dropped = 0
  readonly #last = new Map<string, { time: string; texts: Set<string> }>()

  get lines(): readonly LogLine[] {
    return this.#lines
  }

  /** How many lines have left the memory since the beginning. */
  get dropped(): number {
    return this.#dropped
  }

  /** How many lines there have been since the beginning. */
  get total(): number {
    return this.#nextId
  }

  /** The time from which a broken stream of this source goes on; undefined before its first line. */
  resumeTime(source: string): string | undefined {
    return this.#last.get(source)?.time
  }

  /** Takes a line with its time before it, as `timestamps=true` has it. One that was there before a break is left out. */
  add(source: string, line: string): void {
    const at = line.indexOf(' ')
    const time = at < 0 ? line : line.slice(0, at)
    const isTimed = /^\d{4}-\d\d-\d\dT/.test(time)
    const text = (isTimed ? (at < 0 ? '' : line.slice(at + 1)) : line).slice(0, logLineCharsMax)
    if (isTimed && this.#isRepeated(source, time, text)) return
    this.#push({ id: this.#nextId++, source, time: isTimed ? time : '', text })
  }

  /** Marks that lines may be missing here. */
  addGap(source: string, text: string): void {
    this.#push({ id: this.#nextId++, source, time: '', text, isGap: true })
  }

  /** Forgets the lines, and goes on from here. */
  clear(): void {
    this.#dropped += this.#lines.length
    this.#lines = []
  }

  /** A stream that goes on at a time repeats the lines of its second. */
  #isRepeated(source: string, time: string, text: string): boolean {
    const last = this.#last.get(source)
    if (last !== undefined && time < last.time) return true
    if (last?.time === time) {
      if (last.texts.has(text)) return true
      last.texts.add(text)
      return false
    }
    this.#last.set(source, { time, texts: new Set([text]) })
    return false
  }

  /** Keeps the lines in the order of their times: those of several pods come interleaved. */
  #push(line: LogLine): void {
    const lines = this.#lines
    let at = lines.length
    if (line.time !== '') {
      const floor = Math.max(0, lines.length - viewLimits.logReorderLines)
      while (at > floor && (lines[at - 1]?.time ?? '') > line.time) at -= 1
    }
    lines.splice(at, 0, line)
    if (lines.length <= logLinesMax) return
    const tenth = Math.ceil(logLinesMax / 10)
    lines.splice(0, tenth)
    this.#dropped += tenth
  }
}

/** Cuts a stream of text into lines; `rest` keeps the last one until it has ended, or has too many characters. */
export function cutLines(
  rest: string,
  chunk: string,
  charsMax: number = logLineCharsMax,
): { lines: string[]; rest: string } {
  const parts = (rest + chunk).split('\n')
  const last = parts.pop() ?? ''
  const isTooLong = last.length > charsMax
  return isTooLong ? { lines: [...parts, last], rest: '' } : { lines: parts, rest: last }
}
