import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { seededRandom, silentLogger, simulatedClock, type SimulatedClock } from '@skerry/base'
import { createAuthority, validityOf, type Authority } from '@skerry/pki'
import { until } from '@skerry/testing'
import {
  holdCertificate,
  isWithin,
  issueClientCertificate,
  type CertificateAndKey,
  type CertificateHolder,
  type IssuerTime,
} from './mod.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const yearMs = 365 * dayMs
const rightMs = Date.UTC(2026, 10, 23)

interface Scene extends AsyncDisposable {
  readonly machine: SimulatedClock
  readonly issuer: SimulatedClock
  readonly authority: Authority
  /** Starts a holder, which reads existing files and renews until `stop`. */
  start(): Promise<{ holder: CertificateHolder; stop: () => Promise<void> }>
  /** Advances both clocks. */
  advance(ms: number): Promise<void>
  /** Returns how many certificates were issued. */
  readonly issued: () => number
}

/**
 * Creates an issuer that serves clients whose certificate is valid by its own clock; the first one
 * needs a token.
 */
async function scene(reckons: boolean): Promise<Scene> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-holder-'))
  const machine = simulatedClock(rightMs)
  const issuer = simulatedClock(rightMs)
  const authority = await createAuthority({
    subject: { commonName: 'site' },
    notBeforeMs: 0,
    notAfterMs: rightMs + 10 * yearMs,
  })
  const time: IssuerTime = {
    now: () => issuer.now(),
    ...(reckons ? { reckonedMs: () => rightMs + issuer.monotonicMs() } : {}),
  }
  const paths = {
    certificatePath: join(directory, 'node.crt'),
    keyPath: join(directory, 'node.key'),
  }
  let issued = 0
  let current: () => CertificateAndKey | undefined = () => undefined
  const source = async (): Promise<CertificateAndKey> => {
    const asker = current()
    if (asker && !isWithin(validityOf(asker.certificatePem), issuer.now())) {
      throw new Error('401: the certificate is out of its dates')
    }
    issued += 1
    return issueClientCertificate(authority, { subject: { commonName: 'node' } }, time)
  }
  return {
    machine,
    issuer,
    authority,
    issued: () => issued,
    async start() {
      const stopping = new AbortController()
      const deps = { clock: machine, random: seededRandom(7), log: silentLogger }
      const holder = await holdCertificate(paths, source, deps, stopping.signal)
      current = () => holder.current
      const running = holder.run(stopping.signal).catch(() => undefined)
      return {
        holder,
        async stop() {
          stopping.abort(new Error('stopped'))
          await running
        },
      }
    },
    async advance(ms) {
      await issuer.advance(ms)
      await machine.advance(ms)
      await settled()
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  }
}

/** Waits for other threads, which create keys and write files. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 400; turn += 1) await nextTurn()
}

/** Returns true if the certificate that it shows is valid by the issuer's clock. */
function isLetIn({ holder }: { holder: CertificateHolder }, { issuer }: Scene): boolean {
  return isWithin(validityOf(holder.current.certificatePem), issuer.now())
}

const offsets: readonly [name: string, ms: number][] = [
  ['10 years behind', -10 * yearMs],
  ['a day behind', -dayMs],
  ['a day ahead', dayMs],
  ['300 days ahead', 300 * dayMs],
  ['2 years ahead', 2 * yearMs],
  ['11 years ahead', 11 * yearMs],
]
const whose: readonly ('machine' | 'issuer')[][] = [['machine'], ['issuer'], ['machine', 'issuer']]
for (const [name, offsetMs] of offsets) {
  for (const clocks of whose) {
    const what = `${clocks.join(' and ')} ${name}`
    test(`a certificate outlives a jump and the way back while it is held: ${what}`, async () => {
      await using it = await scene(true)
      const running = await it.start()
      await it.advance(hourMs)
      for (const clock of clocks) it[clock].jump(offsetMs)
      for (let hour = 0; hour < 3; hour += 1) await it.advance(hourMs)
      for (const clock of clocks) it[clock].jump(-offsetMs)
      await it.advance(hourMs)
      await until(() => isLetIn(running, it))
      // A jump must not cause a storm of requests on either side.
      assert.ok(it.issued() <= 8, `${it.issued()} certificates`)
      await running.stop()
    })

    test(`a certificate outlives starts before, in and after a time that is wrong: ${what}`, async () => {
      await using it = await scene(true)
      await (await it.start()).stop()
      for (const clock of clocks) it[clock].jump(offsetMs)
      const during = await it.start()
      await it.advance(hourMs)
      await during.stop()
      for (const clock of clocks) it[clock].jump(-offsetMs)
      const after = await it.start()
      await it.advance(hourMs)
      await until(() => isLetIn(after, it))
      await after.stop()
    })
  }

  test(`a first certificate that was issued with a clock ${name} is good when the clock is right`, async () => {
    await using it = await scene(true)
    it.issuer.jump(offsetMs)
    it.machine.jump(offsetMs)
    const running = await it.start()
    // Only before the authority's own end is a certificate valid.
    if (offsetMs < 9 * yearMs) assert.ok(isLetIn(running, it))
    it.issuer.jump(-offsetMs)
    it.machine.jump(-offsetMs)
    await it.advance(hourMs)
    await until(() => isLetIn(running, it))
    await running.stop()
  })
}

test('if the issuer does not know that its clock is ahead, the previous certificate is used again', async () => {
  await using it = await scene(false)
  const running = await it.start()
  const before = running.holder.current
  it.issuer.jump(350 * dayMs)
  it.machine.jump(350 * dayMs)
  await it.advance(hourMs)
  await until(() => running.holder.current.certificatePem !== before.certificatePem)
  it.issuer.jump(-350 * dayMs)
  it.machine.jump(-350 * dayMs)
  await running.stop()
  const again = await it.start()
  assert.equal(again.holder.current.certificatePem, before.certificatePem)
  await it.advance(2 * hourMs)
  await until(() => again.holder.current.certificatePem !== before.certificatePem)
  assert.ok(isLetIn(again, it))
  await again.stop()
})
