/**
 * Measures one way once, as a separate process at the cloud's end. Argument: a SideTask as JSON. Prints the
 * values as JSON.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryOf } from '../../processes/role-process.ts'
import { writeCertificates } from './certificates.ts'
import { measureCut } from './cut-link.ts'
import { linkSize, loopbackSize, measureLoads, openStalled, warmUp, type Values } from './loads.ts'
import { subjects } from './peers.ts'
import { Processes, untilAnswered, type Site, type Subject } from './subject.ts'

export interface SideTask extends Site {
  readonly subject: string
  /**
   * The measurement: loads on loopback or over the link, the memory that stalled readers take, or a link that
   * is cut.
   */
  readonly measure: 'loopback' | 'link' | 'stalled' | 'cut'
  /** The loads to measure. If omitted, all. */
  readonly loads?: readonly string[]
  /** The id of the link's process; 0 on loopback. */
  readonly linkPid: number
}

const stalledReaders = 1_000
/** The time after which everything in flight has arrived. */
const stallMs = 8_000

async function measure(task: SideTask): Promise<Values> {
  await mkdir(task.directory, { recursive: true })
  await writeCertificates(task.directory)
  await using processes = new Processes(task.directory)
  const target = join(import.meta.dirname, 'target.ts')
  const node = [process.execPath, '--disable-warning=ExperimentalWarning']
  const targetArguments = [target, task.directory, String(task.targetPort)]
  await processes.start('target', [...task.edge, ...node, ...targetArguments])
  const start = subjects[task.subject]
  if (start === undefined) throw new RangeError(`Cannot measure ${task.subject}: unknown`)
  const subject = await start(task, processes)
  await untilAnswered(subject.entry)
  switch (task.measure) {
    case 'loopback':
      await warmUp(subject)
      return await measureLoads(subject, loopbackSize, task.loads)
    case 'link':
      return await measureLoads(subject, linkSize, task.loads)
    case 'stalled':
      return await measureStalled(subject)
    case 'cut':
      return await measureCut(task, subject)
  }
}

/** Measures by how many megabytes the cloud's end grows with readers that stopped. */
async function measureStalled({ entry, cloudPid }: Subject): Promise<Values> {
  if (cloudPid === undefined) return {}
  const before = await memoryOf(cloudPid)
  const connections = await openStalled(entry, stalledReaders)
  await sleep(stallMs)
  const during = await memoryOf(cloudPid)
  for (const connection of connections) connection.close()
  return { 'stalled-memory': during.resident - before.resident }
}

// tunnel.ts passes this type.
const task = JSON.parse(process.argv[2] ?? '') as SideTask
console.log(JSON.stringify(await measure(task)))
process.exit(0)
