import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger, simulatedClock, type SimulatedClock } from '@skerry/base'
import {
  certificateLifetimes,
  clockFault,
  clockStart,
  openTimeFloor,
  readFloor,
  type TimeFloor,
} from './mod.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const yearMs = 365 * dayMs
const startMs = certificateLifetimes.versionMs + 30 * dayMs

interface Scene extends AsyncDisposable {
  readonly clock: SimulatedClock
  readonly path: string
  readonly faults: string[]
  open(): Promise<TimeFloor>
  /** Opens the time floor, runs it for that long, and stops. */
  run(ms: number): Promise<number>
}

async function scene(atMs = startMs): Promise<Scene> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-floor-'))
  const clock = simulatedClock(atMs)
  const path = join(directory, 'time.json')
  const faults: string[] = []
  const log = {
    ...silentLogger,
    error: (_message: string, fields = {}) =>
      void faults.push(...Object.values(fields).map(String)),
  }
  const open = (): Promise<TimeFloor> => openTimeFloor({ path }, { clock, log })
  return {
    clock,
    path,
    faults,
    open,
    async run(ms) {
      await using floor = await open()
      const stopping = new AbortController()
      const running = floor.run(stopping.signal).catch(() => undefined)
      await clock.advance(ms)
      stopping.abort(new Error('done'))
      await running
      return floor.reckonedMs()
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  }
}

test('the time goes on with the clock, over restarts, and a night without power is not reported', async () => {
  await using it = await scene()
  await it.run(2 * dayMs)
  it.clock.jump(hourMs * 10)
  const reckonedMs = await it.run(hourMs)
  assert.equal(reckonedMs, startMs + 2 * dayMs + hourMs)
  await it.run(8 * dayMs)
  assert.equal((await readFloor(it.path))?.reckonedMs, it.clock.now())
  assert.deepEqual(it.faults, [])
})

const jumps: readonly [offMs: number, fault: RegExp | undefined][] = [
  [-10 * yearMs, /it is behind; set the clock/],
  [-dayMs, /it is behind; set the clock/],
  [dayMs, undefined],
  [2 * yearMs, /it is far ahead; set the clock, unless/],
  [11 * yearMs, /it is far ahead; set the clock, unless/],
]
for (const [offMs, fault] of jumps) {
  test(`a jump by ${offMs / dayMs} days leaves the known time; it is reported once, and over when the clock is right`, async () => {
    await using it = await scene()
    await it.run(dayMs)
    it.clock.jump(offMs)
    assert.equal(await it.run(3 * hourMs), startMs + dayMs + 3 * hourMs)
    const [said, ...others] = it.faults
    if (fault === undefined) assert.equal(said, undefined)
    else assert.match(said ?? '', fault)
    assert.deepEqual(others, [])
    it.clock.jump(-offMs)
    await it.run(hourMs)
    assert.deepEqual(others, [])
    assert.equal(clockFault(it.clock.now(), (await readFloor(it.path))?.reckonedMs ?? 0), undefined)
  })

  test(`a clock that stays ${offMs / dayMs} days off for a week is believed`, async () => {
    await using it = await scene()
    await it.run(dayMs)
    it.clock.jump(offMs)
    await it.run(4 * dayMs)
    await it.run(4 * dayMs)
    assert.equal((await readFloor(it.path))?.reckonedMs, it.clock.now())
  })
}

test('a first start with a clock that is years off does not take it for the truth', async () => {
  for (const offMs of [-10 * yearMs, 2 * yearMs, 11 * yearMs]) {
    await using it = await scene(certificateLifetimes.versionMs + offMs)
    await using floor = await it.open()
    assert.equal(floor.reckonedMs(), certificateLifetimes.versionMs)
    assert.equal(it.faults.length, 1)
  }
})

test('a damaged file is made again', async () => {
  await using it = await scene()
  for (const text of ['', 'garbage', '{"reckoned":"never","doubtMs":0}']) {
    await writeFile(it.path, text)
    assert.equal(await it.run(hourMs), it.clock.now())
  }
})

test('a clock before this program existed starts at the last time known; any other is left alone', () => {
  const knownMs = Date.UTC(2027, 5, 1)
  const table: [now: number, known: number, start: number | undefined][] = [
    [0, knownMs, knownMs],
    [Date.UTC(2010, 0, 1), knownMs, knownMs],
    [Date.UTC(2027, 4, 31), knownMs, undefined],
    [Date.UTC(2029, 0, 1), knownMs, undefined],
    [Date.UTC(2026, 11, 1), Date.UTC(2026, 11, 1), undefined],
  ]
  for (const [now, known, start] of table) {
    assert.equal(clockStart(now, known), start, new Date(now).toISOString())
  }
})
