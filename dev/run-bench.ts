import { readFile, writeFile } from 'node:fs/promises'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { BenchRequest } from '../cmd/commands/developer-commands.ts'
import { version } from '../roles/runtime/version.ts'
import type { BenchOptions, Figure } from './bench/measure/figure.ts'

const benchmarks: Readonly<Record<string, (options: BenchOptions) => Promise<Figure[]>>> = {
  main: async (options) => (await import('./bench/main.ts')).run(options),
  apiserver: async (options) => (await import('./bench/apiserver.ts')).run(options),
  console: async (options) => (await import('./bench/console.ts')).run(options),
  'hub-reconnect': async (options) => (await import('./bench/hub-reconnect.ts')).run(options),
  ha: async (options) => (await import('./bench/ha.ts')).run(options),
  hostile: async (options) => (await import('./bench/hostile.ts')).run(options),
  fleet: async (options) => (await import('./bench/fleet.ts')).run(options),
  'fleet-scale': async (options) => (await import('./bench/fleet-scale.ts')).run(options),
  tunnel: async (options) => (await import('./bench/tunnel.ts')).run(options),
  provision: async (options) => (await import('./bench/provision.ts')).run(options),
  store: async (options) => (await import('./bench/store.ts')).run(options),
  'disk-writes': async (options) => (await import('./bench/disk-writes.ts')).run(options),
  etcd: async (options) => (await import('./bench/etcd.ts')).run(options),
  'idle-connections': async (options) => (await import('./bench/idle-connections.ts')).run(options),
  'service-groups': async (options) => (await import('./bench/service-groups.ts')).run(options),
  'virtual-clusters': async (options) => (await import('./bench/virtual-clusters.ts')).run(options),
}

/** Runs one benchmark by name. Prints its figures, and records them if requested. */
export async function runBench(command: BenchRequest): Promise<void> {
  const run = benchmarks[command.name]
  if (run === undefined) {
    throw new ExpectedError(
      `Cannot measure "${command.name}": there are ${Object.keys(benchmarks).join(', ')}`,
      exitCodes.usage,
    )
  }
  const figures = await run(command)
  if (command.isJson) for (const figure of figures) console.log(JSON.stringify(figure))
  else console.log(tableOf(figures))
  if (command.isRecorded) await record(command, figures)
}

function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map(({ figure, unit, ours, peer, ratio, goal }) =>
    [figure, unit, ours, peer ?? '-', ratio?.toFixed(2) ?? '-', goal ?? '-'].map(String),
  )
  const table = [['figure', 'unit', 'ours', 'peer', 'ratio', 'goal'], ...rows]
  const widths = table[0]?.map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  )
  return table
    .map(
      (row) => `| ${row.map((cell, column) => cell.padEnd(widths?.[column] ?? 0)).join(' | ')} |`,
    )
    .toSpliced(1, 0, `| ${widths?.map((width) => '-'.repeat(width)).join(' | ')} |`)
    .join('\n')
}

/** Replaces this benchmark's section between its two marks; the words around it are people's. */
async function record(command: BenchRequest, figures: readonly Figure[]): Promise<void> {
  const path = join(import.meta.dirname, '..', 'docs', 'benchmarks.md')
  const text = await readFile(path, 'utf8')
  const [start, end] = [`<!-- bench ${command.name} -->`, `<!-- end ${command.name} -->`]
  const from = text.indexOf(start)
  const to = text.indexOf(end)
  if (from < 0 || to < from) {
    throw new Error(`Cannot record: docs/benchmarks.md has no place "${start}" … "${end}"`)
  }
  const section = `${start}\n\n${machine()}, ${command.rounds} rounds:\n\n${tableOf(figures)}\n\n`
  await writeFile(path, text.slice(0, from) + section + text.slice(to))
}

function machine(): string {
  const processors = cpus()
  const memory = Math.round(totalmem() / 1e9)
  const day = new Date().toISOString().slice(0, 10)
  const processor = `${processors.length} x ${processors[0]?.model.trim() ?? process.arch}`
  return `Skerry ${version} on ${day}: ${processor}, ${memory} GB, Linux ${release()}, Node ${process.version}`
}
