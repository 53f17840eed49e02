/** The lines of the logs of some pods, put together, bounded, and followed over breaks of the way. */
import { viewLimits } from '../../limits-table.ts'
import { momentKey } from './log-moment.ts'

export interface LogLine {
  /** Counts up, and stays the line's own. */
  readonly id: number
  /** `pod/container`. */
  readonly source: string
  /** The time at which the runtime wrote it (RFC 3339 with fractions); empty for a mark of our own. */
  readonly time: string
  /** The key of that time, by which lines are put in order. */
  readonly moment: string
  readonly text: string
  /** A mark between lines, because some may be missing. */
  readonly isGap?: boolean
}

const { logLinesMax, logLineCharsMax } = viewLimits

interface Latest {
  readonly time: string
  readonly moment: string
  readonly texts: Set<string>
}

export class LogTail {
  #lines: LogLine[] = []
  #nextId = 0
  #chars = 0
  #dropped = 0
  /** The latest moment of each source, and its lines. */
  readonly #last = new Map<string, Latest>()
  /** Sources that may repeat lines, because they go on after a break. */
  readonly #resumed = new Set<string>()

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

  /** Expects that the next stream of this source begins with lines that are here already. */
  resume(source: string): void {
    this.#resumed.add(source)
  }

  /** Takes a line with its time before it, as `timestamps=true` has it. One that was there before a break is left out. */
  add(source: string, line: string): void {
    const at = line.indexOf(' ')
    const time = at < 0 ? line : line.slice(0, at)
    const moment = momentKey(time)
    const rest = moment === undefined ? line : at < 0 ? '' : line.slice(at + 1)
    const text = rest.slice(0, logLineCharsMax)
    if (moment === undefined) {
      this.#push({ id: this.#nextId++, source, time: '', moment: '', text })
      return
    }
    if (this.#isRepeated(source, moment, text)) return
    this.#note(source, { time, moment }, text)
    this.#push({ id: this.#nextId++, source, time, moment, text })
  }

  /** Marks that lines may be missing here. */
  addGap(source: string, text: string): void {
    this.#push({ id: this.#nextId++, source, time: '', moment: '', text, isGap: true })
  }

  /** Forgets the lines, and goes on from here. */
  clear(): void {
    this.#dropped += this.#lines.length
    this.#lines = []
    this.#chars = 0
  }

  /**
   * A stream that goes on at a time repeats the lines of its second. After these nothing is left out: clocks are set
   * back, and then the lines that follow are older than those before.
   */
  #isRepeated(source: string, moment: string, text: string): boolean {
    const last = this.#last.get(source)
    if (last === undefined || !this.#resumed.has(source)) return false
    if (moment < last.moment || (moment === last.moment && last.texts.has(text))) return true
    this.#resumed.delete(source)
    return false
  }

  #note(
    source: string,
    at: { readonly time: string; readonly moment: string },
    text: string,
  ): void {
    const last = this.#last.get(source)
    if (last === undefined || at.moment > last.moment) {
      this.#last.set(source, { ...at, texts: new Set([text]) })
    } else if (at.moment === last.moment && last.texts.size < viewLimits.logSameTimeMax) {
      last.texts.add(text)
    }
  }

  /** Keeps the lines in the order of their times: those of several pods come interleaved. */
  #push(line: LogLine): void {
    const lines = this.#lines
    let at = lines.length
    if (line.moment !== '') {
      const floor = Math.max(0, lines.length - viewLimits.logReorderLines)
      while (at > floor && isLater(lines[at - 1], line)) at -= 1
    }
    lines.splice(at, 0, line)
    this.#chars += line.text.length
    while (lines.length > logLinesMax || this.#chars > viewLimits.logCharsMax) {
      const oldest = lines.splice(0, Math.ceil(lines.length / 10))
      for (const { text } of oldest) this.#chars -= text.length
      this.#dropped += oldest.length
    }
  }
}

/** The lines of one source stay as they came: only their node's clock may say otherwise. */
function isLater(before: LogLine | undefined, { source, moment }: LogLine): boolean {
  return before !== undefined && before.source !== source && before.moment > moment
}

/** Cuts a stream of text into lines; `rest` keeps the last one until it has ended. A line of too many characters is several. */
export function cutLines(
  rest: string,
  chunk: string,
  charsMax: number = logLineCharsMax,
): { lines: string[]; rest: string } {
  const parts = (rest + chunk).split('\n')
  const last = piecesOf(parts.pop() ?? '', charsMax)
  const lines = parts.flatMap((part) => piecesOf(part, charsMax))
  return { lines: [...lines, ...last.slice(0, -1)], rest: last.at(-1) ?? '' }
}

function piecesOf(line: string, charsMax: number): string[] {
  if (line.length <= charsMax) return [line]
  return Array.from({ length: Math.ceil(line.length / charsMax) }, (_, at) =>
    line.slice(at * charsMax, (at + 1) * charsMax),
  )
}
