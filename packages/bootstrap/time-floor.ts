import { messageOf, sleepUnlessClockIsSet, type Clock, type Logger } from '@skerry/base'
import { type IssuerTime } from './certificate-lifetimes.ts'
import { certificateLifetimes } from './limits-table.ts'
import { readFileIfPresent, secretMode, writeFileDurably } from './secure-file.ts'
import { bootstrapBounds } from './limits-table.ts'

const timeFloorDefaults = bootstrapBounds.timeFloor

/**
 * Tracks the latest time that this machine knew, stored next to the store. It advances with elapsed
 * time, not with the clock, so that after a jump it has the time that the clock should show. It decides
 * nothing by itself, because a clock may be right after a year in a depot. Certificates are made
 * valid by both, and a person is warned.
 */
export interface TimeFloor extends IssuerTime, AsyncDisposable {
  reckonedMs(): number
  /** Describes the clock's error to a person, or returns undefined if none is worth reporting. */
  fault(): string | undefined
  /** Follows the clock, saves the time now and then, and logs what is wrong. Ends with the signal. */
  run(signal: AbortSignal): Promise<never>
}

interface FloorState {
  readonly reckonedMs: number
  /** How long, while this machine ran, the clock has shown another time. */
  readonly doubtMs: number
}

export interface TimeFloorOptions {
  /** The file that stores the time. */
  readonly path: string
  /** A time known from elsewhere, for the first start. Default: the one this version knows. */
  readonly earliestMs?: number
}

/** Reads the file. A missing or damaged one is created again, because it only serves to warn a person. */
export async function openTimeFloor(
  { path, earliestMs = 0 }: TimeFloorOptions,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<TimeFloor> {
  const found = await readFloor(path)
  const nowMs = clock.now()
  const first = { reckonedMs: firstReckoning(nowMs, earliestMs), doubtMs: 0 }
  const floor = new Floor(found ?? first, { path, clock, log })
  floor.look()
  await floor.save()
  return floor
}

/** Without a file, returns the clock's time, unless it is before a known time, or long after it. */
function firstReckoning(nowMs: number, earliestMs: number): number {
  const knownMs = Math.max(earliestMs, certificateLifetimes.versionMs)
  return nowMs >= knownMs && nowMs < knownMs + timeFloorDefaults.offMs ? nowMs : knownMs
}

/** Returns undefined if the file is missing or unreadable. */
export async function readFloor(path: string): Promise<FloorState | undefined> {
  const text = (await readFileIfPresent(path).catch(() => undefined)) ?? ''
  const match = /^\{"reckoned":"([^"]+)","doubtMs":(\d+)\}\s*$/.exec(text)
  const reckonedMs = Date.parse(match?.[1] ?? '')
  return match && !Number.isNaN(reckonedMs) ? { reckonedMs, doubtMs: Number(match[2]) } : undefined
}

/** Describes the clock's error to a person, or returns undefined if none is worth reporting. */
export function clockFault(nowMs: number, reckonedMs: number): string | undefined {
  const { agreeMs, offMs } = timeFloorDefaults
  const text = (ms: number): string => new Date(ms).toISOString().slice(0, 19)
  const known = `the clock says ${text(nowMs)}Z, and this machine has known ${text(reckonedMs)}Z`
  if (nowMs < reckonedMs - agreeMs) return `${known}: it is behind; set the clock`
  return nowMs > reckonedMs + offMs
    ? `${known}: it is far ahead; set the clock, unless the machine was off for so long`
    : undefined
}

/** Returns the time to which a clock is set that cannot be right, or undefined if it may be. */
export function clockStart(nowMs: number, knownMs: number): number | undefined {
  return nowMs < certificateLifetimes.versionMs && nowMs < knownMs ? knownMs : undefined
}

class Floor implements TimeFloor {
  readonly #deps: { path: string; clock: Clock; log: Logger }
  #state: FloorState
  #atMs: number
  /** How the clock was wrong when that was last reported; undefined if it was right. */
  #toldWay: 'behind' | 'ahead' | undefined

  constructor(state: FloorState, deps: { path: string; clock: Clock; log: Logger }) {
    this.#state = state
    this.#deps = deps
    this.#atMs = deps.clock.monotonicMs()
  }

  now(): number {
    return this.#deps.clock.now()
  }

  reckonedMs(): number {
    return this.#state.reckonedMs + this.#elapsedMs()
  }

  fault(): string | undefined {
    return clockFault(this.now(), this.reckonedMs())
  }

  async run(signal: AbortSignal): Promise<never> {
    const { lookMs, saveMs } = timeFloorDefaults
    const { clock } = this.#deps
    for (let savedMs = clock.monotonicMs(); ;) {
      await sleepUnlessClockIsSet(clock, lookMs, signal)
      this.look()
      if (clock.monotonicMs() - savedMs < saveMs) continue
      savedMs = clock.monotonicMs()
      await this.save()
    }
  }

  /** Advances the time. Follows a clock that agrees, or has shown the same for long enough. */
  look(): void {
    const { agreeMs, believeMs } = timeFloorDefaults
    const elapsedMs = this.#elapsedMs()
    const reckonedMs = this.reckonedMs()
    const nowMs = this.now()
    this.#atMs = this.#deps.clock.monotonicMs()
    const agrees = Math.abs(nowMs - reckonedMs) <= agreeMs
    const doubtMs = agrees ? 0 : this.#state.doubtMs + elapsedMs
    const isBelieved = agrees || doubtMs >= believeMs
    this.#state = isBelieved ? { reckonedMs: nowMs, doubtMs: 0 } : { reckonedMs, doubtMs }
    this.#tell(nowMs)
  }

  async save(): Promise<void> {
    const { path, log } = this.#deps
    const { doubtMs } = this.#state
    const reckoned = new Date(this.reckonedMs()).toISOString()
    try {
      await writeFileDurably(
        path,
        `{"reckoned":"${reckoned}","doubtMs":${Math.round(doubtMs)}}\n`,
        secretMode,
      )
    } catch (error) {
      // The disk may be full; the next turn saves the time.
      log.info('Time not saved', { path, why: messageOf(error) })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.look()
    await this.save()
  }

  #tell(nowMs: number): void {
    const { reckonedMs } = this.#state
    const fault = clockFault(nowMs, reckonedMs)
    const way = fault === undefined ? undefined : nowMs < reckonedMs ? 'behind' : 'ahead'
    if (way === this.#toldWay) return
    if (fault === undefined) this.#deps.log.info('Clock is right again')
    else this.#deps.log.error('Clock is off', { fault })
    this.#toldWay = way
  }

  #elapsedMs(): number {
    return this.#deps.clock.monotonicMs() - this.#atMs
  }
}
