import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Random } from '@skerry/base'
import type { DiskHistory, DiskStep, NameChange } from './disk-history.ts'

type FileStep = Extract<DiskStep, { kind: 'write' | 'size' }>
type Numbered<T> = T & { readonly step: number }

interface FileState {
  /** Bytes that are on the disk for certain. */
  durable: Buffer
  /** Steps that the disk may have taken or not. */
  pending: Numbered<FileStep>[]
}

/** The smallest unit that a disk writes wholly or not at all. */
const sectorBytes = 512

/**
 * A disk that keeps what was synced, and of all else any part: a write may be lost, kept, torn between sectors, or on
 * the disk before an earlier one. So may the names of a directory, each rename as a whole. A sector has the bytes of
 * some moment, as it is written from memory at once. Steps are taken in order; `content` is what a power cut leaves.
 */
export class SimulatedDisk {
  readonly #history: DiskHistory
  readonly #files = new Map<number, FileState>()
  readonly #names = new Map<number, Map<string, number>>([[0, new Map()]])
  #pendingNames: Numbered<{ readonly changes: readonly NameChange[] }>[] = []
  #step = 0

  constructor(history: DiskHistory) {
    this.#history = history
  }

  /** Takes the steps up to this one (exclusive); they cannot be taken back. */
  advance(step: number): void {
    for (; this.#step < step; this.#step += 1) {
      const next = this.#history.steps[this.#step]
      if (next) this.#take(next, this.#step)
    }
  }

  /** Returns the files and directories that are left, by path. Directories have no bytes. */
  content(random: Random): Map<string, Buffer | undefined> {
    const names = this.#namesLeft(random)
    const content = new Map<string, Buffer | undefined>()
    const visit = (directory: number, path: string): void => {
      for (const [name, node] of names.get(directory) ?? []) {
        const below = path === '' ? name : `${path}/${name}`
        if (this.#history.isDirectory.get(node)) {
          content.set(below, undefined)
          visit(node, below)
        } else content.set(below, bytesLeft(this.#files.get(node), random))
      }
    }
    visit(0, '')
    return content
  }

  #take(step: DiskStep, at: number): void {
    switch (step.kind) {
      case 'write':
      case 'size':
        return void this.#file(step.node).pending.push({ ...step, step: at })
      case 'names':
        return void this.#pendingNames.push({ changes: step.changes, step: at })
      case 'sync':
        if (this.#history.isDirectory.get(step.node)) this.#syncNames(step.node, step.covers)
        else this.#syncFile(step.node, step.covers)
        return
      case 'told':
    }
  }

  #file(node: number): FileState {
    const known = this.#files.get(node)
    if (known) return known
    const file: FileState = { durable: Buffer.alloc(0), pending: [] }
    this.#files.set(node, file)
    return file
  }

  #syncFile(node: number, covers: number): void {
    const file = this.#file(node)
    for (const step of file.pending) {
      if (step.step < covers) file.durable = applied(file.durable, step)
    }
    file.pending = file.pending.filter(({ step }) => step >= covers)
  }

  #syncNames(directory: number, covers: number): void {
    this.#pendingNames = this.#pendingNames.flatMap((pending) => {
      if (pending.step >= covers) return [pending]
      for (const change of pending.changes) {
        if (change.directory === directory) rename(this.#names, change)
      }
      const changes = pending.changes.filter((change) => change.directory !== directory)
      return changes.length === 0 ? [] : [{ ...pending, changes }]
    })
  }

  #namesLeft(random: Random): Map<number, Map<string, number>> {
    const names = new Map([...this.#names].map(([node, of]) => [node, new Map(of)]))
    const mode = random.next()
    const until = Math.floor(random.next() * (this.#pendingNames.length + 1))
    for (const [at, { changes }] of this.#pendingNames.entries()) {
      // Either a journal wrote them in order, or each went its own way.
      const isLeft = mode < 0.5 ? at < until : mode < 0.6 ? true : random.next() < 0.5
      if (isLeft) for (const change of changes) rename(names, change)
    }
    return names
  }
}

/** Writes what a power cut left below a directory that exists and is empty. */
export async function layOut(
  content: ReadonlyMap<string, Buffer | undefined>,
  directory: string,
): Promise<void> {
  for (const [path, bytes] of content) {
    if (bytes === undefined) await mkdir(join(directory, path))
    else await writeFile(join(directory, path), bytes, { mode: 0o600 })
  }
}

function rename(names: Map<number, Map<string, number>>, change: NameChange): void {
  const { directory, name, node } = change
  const known = names.get(directory) ?? new Map<string, number>()
  names.set(directory, known)
  if (node === undefined) known.delete(name)
  else known.set(name, node)
}

function bytesLeft(file: FileState | undefined, random: Random): Buffer {
  if (file === undefined) return Buffer.alloc(0)
  const { durable, pending } = file
  if (pending.length === 0) return durable
  const mode = random.next()
  if (mode < 0.15) return durable
  const copy = Buffer.from(durable)
  if (mode < 0.3) return pending.reduce(applied, copy)
  const until = Math.floor(random.next() * pending.length)
  if (mode < 0.6) {
    // In order, the last one in part.
    const before = pending.slice(0, until).reduce(applied, copy)
    return tear(before, pending.slice(until, until + 1), random, 0.5)
  }
  return tear(copy, pending, random, [0.02, 0.3, 0.7][Math.floor(random.next() * 3)] ?? 0.5)
}

/** Keeps of each sector the bytes of some moment; `lossShare` is the chance that a step is later than that. */
function tear(
  copy: Buffer,
  pending: readonly FileStep[],
  random: Random,
  lossShare: number,
): Buffer {
  const isOver = new Set<number>()
  let bytes = copy
  for (const step of pending) {
    if (step.kind === 'size') {
      if (random.next() >= lossShare) bytes = applied(bytes, step)
      continue
    }
    for (let at = step.at; at < step.at + step.bytes.length;) {
      const sector = Math.floor(at / sectorBytes)
      const end = Math.min((sector + 1) * sectorBytes, step.at + step.bytes.length)
      if (random.next() < lossShare) isOver.add(sector)
      if (!isOver.has(sector)) {
        const piece = step.bytes.subarray(at - step.at, end - step.at)
        bytes = applied(bytes, { ...step, at, bytes: piece })
      }
      at = end
    }
  }
  return bytes
}

/** Changes `bytes` in place if its size stays. */
function applied(bytes: Buffer, step: FileStep): Buffer {
  const size =
    step.kind === 'size' ? step.size : Math.max(bytes.length, step.at + step.bytes.length)
  let after = bytes
  if (size !== bytes.length) {
    after = Buffer.alloc(size)
    bytes.copy(after, 0, 0, Math.min(bytes.length, size))
  }
  if (step.kind === 'write') step.bytes.copy(after, step.at)
  return after
}
