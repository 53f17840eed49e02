import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SitesFile, SitesReport } from './site-orders.ts'

/** Simulated sites, spread over some processes. */
export interface SiteFleet extends AsyncDisposable {
  readonly count: number
  /** The number of sites whose tunnel is open. */
  readonly open: number
  /** The times at which tunnels have opened since the last forget(), by the wall clock. */
  readonly openedAtMs: readonly number[]
  /** The times at which this object was written at sites, by its kind, name and image. */
  writtenAtMs(text: string): readonly number[]
  forget(): void
  /** The ids of the processes, each with about the same share of the sites. */
  readonly pids: readonly number[]
  /** Sends all processes from this one on a signal. */
  signal(first: number, name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void
  /** Waits until it is so; throws after `msMax`. */
  until(isWanted: (fleet: SiteFleet) => boolean, msMax: number): Promise<void>
}

const pollMs = 50

interface Process {
  readonly child: ChildProcess
  report: SitesReport
}

export async function startSiteFleet(
  file: Omit<SitesFile, 'sites'>,
  sites: SitesFile['sites'],
  processes: number,
): Promise<SiteFleet> {
  await mkdir(file.directory, { recursive: true, mode: 0o700 })
  const perProcess = Math.ceil(sites.length / processes)
  const starts = Array.from({ length: processes }, (_, number) => {
    const some = sites.slice(number * perProcess, (number + 1) * perProcess)
    return startProcess({ ...file, sites: some }, number)
  })
  return new RunningSites(await Promise.all(starts), sites.length)
}

const none: SitesReport = Object.freeze({
  open: 0,
  openedAtMs: [],
  writtenAtMs: {},
})

async function startProcess(file: SitesFile, number: number): Promise<Process> {
  const path = join(file.directory, `sites-${number}.json`)
  await writeFile(path, JSON.stringify(file), { mode: 0o600 })
  const script = join(import.meta.dirname, 'run-sites.ts')
  const flags = ['--disable-warning=ExperimentalWarning', script, path]
  const stdio: ('ignore' | 'inherit' | 'ipc')[] = ['ignore', 'ignore', 'inherit', 'ipc']
  return { child: spawn(process.execPath, flags, { stdio }), report: none }
}

class RunningSites implements SiteFleet {
  readonly count: number
  openedAtMs: number[] = []
  readonly #processes: readonly Process[]
  readonly #written = new Map<string, number[]>()

  constructor(processes: readonly Process[], count: number) {
    this.#processes = processes
    this.count = count
    for (const each of processes) {
      // run-sites.ts sends only this type.
      each.child.on('message', (message) => this.#onReport(each, message as SitesReport))
    }
  }

  get open(): number {
    return this.#processes.reduce((sum, { report }) => sum + report.open, 0)
  }

  get pids(): readonly number[] {
    return this.#processes.flatMap(({ child: { pid } }) => pid ?? [])
  }

  writtenAtMs(text: string): readonly number[] {
    return this.#written.get(text) ?? []
  }

  forget(): void {
    this.openedAtMs = []
    this.#written.clear()
  }

  signal(first: number, name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
    for (const { child } of this.#processes.slice(first)) child.kill(name)
  }

  async until(isWanted: (fleet: SiteFleet) => boolean, msMax: number): Promise<void> {
    const endMs = performance.now() + msMax
    while (!isWanted(this)) {
      const dead = this.#processes.find(({ child }) => child.exitCode !== null)
      if (dead) throw new Error('Cannot measure: a process of sites has ended')
      if (performance.now() > endMs) {
        const { count, open } = this
        throw new Error(`Cannot measure: timed out; ${open} of ${count} sites have a tunnel`)
      }
      await sleep(pollMs)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.#processes) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const ended = once(child, 'exit')
      // It would not hear anything else while it is stopped.
      child.kill('SIGKILL')
      await ended
    }
  }

  #onReport(from: Process, report: SitesReport): void {
    from.report = report
    this.openedAtMs.push(...report.openedAtMs)
    for (const [text, times] of Object.entries(report.writtenAtMs)) {
      const known = this.#written.get(text) ?? []
      this.#written.set(text, known)
      known.push(...times)
    }
  }
}
