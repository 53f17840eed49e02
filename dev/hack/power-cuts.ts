/**
 * Cuts the power of virtual machines at random moments while they acknowledge writes, and looks for what was lost:
 *   node dev/hack/power-cuts.ts                              8 cuts of each subject, half an hour
 *   node dev/hack/power-cuts.ts --only store --cuts 40
 *   node dev/hack/power-cuts.ts --only node --seed 7
 * The subjects are the store of a site, `skerry etcd`, a whole site and a node with pods. A cut ends the emulator and the
 * process that is its disk: all that was not flushed is lost, or, in every other cut, half of its sectors are there.
 * Development only; needs the packages qemu-system-x86 mmdebstrap e2fsprogs cpio xz-utils openssh-client, and for the
 * image, which is made once, root. A kernel starts once per subject and goes on from the moment before it mounts its disk.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ExpectedError, exitCodes, messageOf, seededRandom } from '@skerry/base'
import { etcdKind } from './power-cuts/etcd-subject.ts'
import { nodeKind } from './power-cuts/node-subject.ts'
import { writeProgram, type TlsIdentity } from './power-cuts/program-files.ts'
import { siteKind } from './power-cuts/site-subject.ts'
import { storeKind } from './power-cuts/store-subject.ts'
import type { Life, Subject, SubjectKind } from './power-cuts/subject.ts'
import { makeQuickImage, type QuickImage } from './virtual-machines/quick-image.ts'
import { makeQuickMachine, type QuickMachine } from './virtual-machines/quick-machine.ts'
import { whyNoVirtualMachine } from './virtual-machines/virtual-machine.ts'

const kinds: Readonly<Record<string, SubjectKind>> = {
  store: storeKind,
  etcd: etcdKind,
  site: siteKind,
  node: nodeKind,
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    cuts: { type: 'string', default: '8' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})

interface Count {
  readonly name: string
  cuts: number
  boots: number
  acknowledged: number
  bootMs: number
  readonly problems: string[]
}

async function main(): Promise<void> {
  const why = await whyNoVirtualMachine()
  if (why !== false) throw new ExpectedError(`Cannot cut: ${why}`, exitCodes.missingDependency)
  const names = values.only ?? Object.keys(kinds)
  const cuts = Number(values.cuts)
  const seed = Number(values.seed)
  if (!Number.isSafeInteger(cuts) || cuts < 1) throw new RangeError('--cuts: give a number above 0')
  if (!Number.isSafeInteger(seed)) throw new RangeError('--seed: give a whole number')
  const chosen = names.map((name) => {
    const kind = kinds[name]
    if (kind === undefined)
      throw new RangeError(`--only: there are ${Object.keys(kinds).join(', ')}`)
    return { name, kind }
  })
  // Machines and files go with the process.
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => process.exit(130))
  console.log(`seed ${seed}, load ${loadavg()[0]?.toFixed(1)}`)
  let identity: TlsIdentity | undefined
  await using image = await makeQuickImage(async (root) => {
    identity = await writeProgram(root)
  })
  if (identity === undefined) throw new Error('Cannot reach etcd: the image has no certificates')
  const counts: Count[] = []
  for (const { name, kind } of chosen) {
    counts.push(await cutAll({ name, kind, image, identity }, { cuts, seed }))
  }
  report(counts)
}

interface Target {
  readonly name: string
  readonly kind: SubjectKind
  readonly image: QuickImage
  readonly identity: TlsIdentity
}

async function cutAll(
  { name, kind, image, identity }: Target,
  { cuts, seed }: { cuts: number; seed: number },
): Promise<Count> {
  const { ports, memoryMegabytes, held } = kind
  const startMs = performance.now()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-power-cuts-'))
  const count: Count = { name, cuts: 0, boots: 0, acknowledged: 0, bootMs: 0, problems: [] }
  const random = seededRandom(seed)
  try {
    await using machine = await makeQuickMachine({ image, ports, memoryMegabytes, held })
    console.log(`${name}: ${kind.title}; the kernel has started after ${secondsSince(startMs)}`)
    await using subject = await kind.open({ machine, identity, directory })
    // The last boot only looks.
    for (let boot = 0; boot <= cuts; boot += 1) {
      const moment = {
        writes: 1 + Math.floor(random.next() * kind.writesMax),
        pauseMs: random.next() * 300,
        kept: boot % 4 < 2 ? ('half' as const) : ('nothing' as const),
      }
      await live(
        { machine, subject, kind, count },
        { ...moment, seed, boot, isLast: boot === cuts },
      )
    }
    count.acknowledged = subject.acknowledged
  } catch (error) {
    count.problems.push(messageOf(error))
    console.log(`${name}: ${messageOf(error)}`)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  console.log(`${name}: ${secondsSince(startMs)} in all, load ${loadavg()[0]?.toFixed(1)}`)
  return count
}

interface Living {
  readonly machine: QuickMachine
  readonly subject: Subject
  readonly kind: SubjectKind
  readonly count: Count
}

interface Moment {
  readonly seed: number
  readonly boot: number
  readonly writes: number
  readonly pauseMs: number
  readonly kept: 'half' | 'nothing'
  readonly isLast: boolean
}

/** One life, from a boot to a cut. */
async function live({ machine, subject, kind, count }: Living, moment: Moment): Promise<void> {
  const { seed, boot, kept, isLast } = moment
  const cut = new AbortController()
  const bootMs = await machine.boot(seed * 1_000 + boot)
  count.boots += 1
  count.bootMs += bootMs
  const before = subject.acknowledged
  const life = await subject.live({ seed, boot, signal: cut.signal })
  // A cut ends writers before anybody waits for them.
  const ended = Promise.allSettled(life.parts)
  const problems = [...life.problems, ...(await faultsOfDisk(machine))]
  count.problems.push(...problems)
  if (!isLast) await untilMoment(life, { subject, kind, goal: before + moment.writes, ...moment })
  await machine.cut(kept)
  cut.abort(new Error('The power is off'))
  await ended
  if (!isLast) count.cuts += 1
  const news = subject.acknowledged - before
  const cutText = isLast ? '' : `, then ${news} acknowledged, cut keeps ${kept}`
  const bootText = (bootMs / 1_000).toFixed(1)
  console.log(`${count.name} ${boot}: boot ${bootText} s, ${life.notes}${cutText}`)
  for (const problem of problems) console.log(`  PROBLEM: ${problem}`)
}

/** Resolves at the moment of the cut. Rejects if a part ends by itself. */
async function untilMoment(
  { parts }: Life,
  {
    subject,
    kind,
    goal,
    pauseMs,
  }: { subject: Subject; kind: SubjectKind; goal: number; pauseMs: number },
): Promise<void> {
  const endMs = performance.now() + kind.lifeMsMax
  const enough = async (): Promise<void> => {
    while (subject.acknowledged < goal && performance.now() < endMs) await pause(2)
    await pause(pauseMs)
  }
  const early = Promise.race(parts).then(() => {
    throw new Error('Cannot write on: a writer has ended')
  })
  await Promise.race([early, enough()])
}

/** Returns what the machine's kernel says of the file system, if it is damaged. */
async function faultsOfDisk(machine: QuickMachine): Promise<string[]> {
  const text = await machine.run('dmesg | grep -E "EXT4-fs (error|warning)|I/O error" || true')
  return text.split('\n').filter((line) => line !== '')
}

function report(counts: readonly Count[]): void {
  console.log('\n| subject | cuts | boots | acknowledged | problems | seconds per boot |')
  console.log('|---|---|---|---|---|---|')
  for (const { name, cuts, boots, acknowledged, bootMs, problems } of counts) {
    const mean = (bootMs / Math.max(1, boots) / 1_000).toFixed(1)
    console.log(`| ${name} | ${cuts} | ${boots} | ${acknowledged} | ${problems.length} | ${mean} |`)
  }
  if (counts.some(({ problems }) => problems.length > 0)) process.exitCode = 1
}

function secondsSince(startMs: number): string {
  return `${((performance.now() - startMs) / 1_000).toFixed(0)} s`
}

await main()
