import { resolve } from 'node:path'
import type { SystemCall } from './system-calls.ts'

/** A change of the disk, or a promise about earlier ones. Nodes are files and directories, by number. */
export type DiskStep =
  | { readonly kind: 'write'; readonly node: number; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'size'; readonly node: number; readonly size: number }
  | { readonly kind: 'names'; readonly changes: readonly NameChange[] }
  /** Steps of the node before `covers` are on the disk from now on. */
  | { readonly kind: 'sync'; readonly node: number; readonly covers: number }
  /** The program told somebody about its work, by a line on its standard output. */
  | { readonly kind: 'told'; readonly text: string }

export interface NameChange {
  readonly directory: number
  readonly name: string
  /** The node that the name leads to from now on; omitted if the name is gone. */
  readonly node?: number
}

/** The work of one program below a directory that was empty and durable before; that directory is node 0. */
export interface DiskHistory {
  readonly steps: readonly DiskStep[]
  readonly isDirectory: ReadonlyMap<number, boolean>
}

interface OpenFile {
  readonly node: number
  readonly appends: boolean
  position: number
}

/** Reads the history of the tree below `root`, which must be an absolute path. */
export function diskHistory(calls: readonly SystemCall[], root: string): DiskHistory {
  const reader = new CallReader(root)
  for (const call of calls) reader.take(call)
  return { steps: reader.steps, isDirectory: reader.isDirectory }
}

type Handler = (call: SystemCall, args: readonly string[]) => void

class CallReader {
  readonly steps: DiskStep[] = []
  readonly isDirectory = new Map([[0, true]])
  readonly #root: string
  /** The names of each directory, as the program sees them. */
  readonly #names = new Map<number, Map<string, number>>([[0, new Map()]])
  readonly #sizes = new Map<number, number>()
  readonly #files = new Map<number, OpenFile>()
  /** The number of steps at each call, so that a sync knows what came before it began. */
  readonly #stepsAt: number[] = []
  readonly #handlers: Readonly<Record<string, Handler>>

  constructor(root: string) {
    this.#root = resolve(root)
    this.#handlers = this.#table()
  }

  take(call: SystemCall): void {
    this.#stepsAt.push(this.steps.length)
    const handler = this.#handlers[call.name]
    if (handler === undefined) throw new Error(`Cannot follow ${call.name}: the disk lacks it`)
    handler(call, splitArguments(call.args))
  }

  #table(): Record<string, Handler> {
    const write: Handler = ({ result }, [fd, data = '']) => this.#write(fd, bytesOf(data), result)
    const writeAt: Handler = ({ result }, args) =>
      this.#write(args[0], bytesOf(args[1] ?? ''), result, Number(args[3]))
    const sync: Handler = ({ begun }, [fd]) => this.#sync(fd, begun)
    const refuse =
      (fdAt: number): Handler =>
      ({ name }, args) => {
        const fd = Number(args[fdAt])
        if (this.#files.has(fd)) throw new Error(`Cannot follow ${name} of a file below the root`)
      }
    return {
      openat: ({ result }, [at, path, flags]) => this.#open(at, path, flags, result),
      open: ({ result }, [path, flags]) => this.#open(undefined, path, flags, result),
      creat: ({ result }, [path]) => this.#open(undefined, path, 'O_CREAT|O_TRUNC', result),
      close: (_call, [fd]) => void this.#files.delete(Number(fd)),
      dup: refuse(0),
      dup2: refuse(0),
      dup3: refuse(0),
      lseek: ({ result }, [fd]) => this.#seek(fd, result),
      write,
      writev: write,
      pwrite64: writeAt,
      pwritev: writeAt,
      pwritev2: writeAt,
      ftruncate: (_call, [fd, size]) => this.#resize(this.#files.get(Number(fd))?.node, size),
      truncate: (_call, [path, size]) => this.#resize(this.#find(undefined, path), size),
      fallocate: refuse(0),
      fsync: sync,
      fdatasync: sync,
      sync: () => {},
      syncfs: () => {},
      sync_file_range: () => {},
      rename: (_call, [from, to]) => this.#rename(undefined, from, undefined, to),
      renameat: (_call, args) => this.#rename(args[0], args[1], args[2], args[3]),
      renameat2: (_call, args) => this.#rename(args[0], args[1], args[2], args[3]),
      unlink: (_call, [path]) => this.#remove(undefined, path),
      rmdir: (_call, [path]) => this.#remove(undefined, path),
      unlinkat: (_call, [at, path]) => this.#remove(at, path),
      mkdir: (_call, [path]) => this.#create(undefined, path, true),
      mkdirat: (_call, [at, path]) => this.#create(at, path, true),
      link: (_call, [from, to]) => this.#link(undefined, from, undefined, to),
      linkat: (_call, args) => this.#link(args[0], args[1], args[2], args[3]),
      symlink: (_call, [, path]) => this.#refuseBelow(path),
      symlinkat: (_call, [, , path]) => this.#refuseBelow(path),
      mmap: (call, args) => {
        const isShared = /MAP_SHARED/.test(args[3] ?? '') && /PROT_WRITE/.test(args[2] ?? '')
        if (isShared) refuse(4)(call, args)
      },
      msync: () => {},
      sendfile: refuse(0),
      copy_file_range: refuse(2),
    }
  }

  /** Returns the directory and the name of a path below the root. */
  #place(at: string | undefined, path: string): { directory: number; name: string } | undefined {
    const text = bytesOf(path).toString()
    const base = text.startsWith('/') ? undefined : this.#files.get(Number(at))
    if (base) return this.#walk(base.node, text.split('/'))
    const full = resolve(text)
    if (!full.startsWith(`${this.#root}/`)) return undefined
    return this.#walk(0, full.slice(this.#root.length + 1).split('/'))
  }

  #walk(from: number, parts: readonly string[]): { directory: number; name: string } | undefined {
    let directory = from
    for (const part of parts.slice(0, -1)) {
      const next = this.#names.get(directory)?.get(part)
      if (next === undefined) return undefined
      directory = next
    }
    return { directory, name: parts.at(-1) ?? '' }
  }

  #find(at: string | undefined, path = ''): number | undefined {
    if (resolve(bytesOf(path).toString()) === this.#root) return 0
    const place = this.#place(at, path)
    return place && this.#names.get(place.directory)?.get(place.name)
  }

  #open(at: string | undefined, path = '', flags = '', fd = -1): void {
    const isCreating = /O_CREAT/.test(flags)
    const node = this.#find(at, path) ?? (isCreating ? this.#create(at, path, false) : undefined)
    if (node === undefined) return
    if (/O_TRUNC/.test(flags) && (this.#sizes.get(node) ?? 0) > 0) this.#resize(node, '0')
    this.#files.set(fd, { node, appends: /O_APPEND/.test(flags), position: 0 })
  }

  #create(at: string | undefined, path = '', isDirectory: boolean): number | undefined {
    const place = this.#place(at, path)
    if (place === undefined) return undefined
    const node = this.isDirectory.size
    this.isDirectory.set(node, isDirectory)
    if (isDirectory) this.#names.set(node, new Map())
    this.#change([{ ...place, node }])
    return node
  }

  #remove(at: string | undefined, path = ''): void {
    const place = this.#place(at, path)
    if (place) this.#change([place])
  }

  #rename(fromAt: string | undefined, from = '', toAt: string | undefined, to = ''): void {
    const [source, target] = [this.#place(fromAt, from), this.#place(toAt, to)]
    const node = this.#find(fromAt, from)
    if (source && target && node !== undefined) this.#change([source, { ...target, node }])
    else if (source || target) throw new Error('Cannot follow a rename into or out of the root')
  }

  #link(fromAt: string | undefined, from = '', toAt: string | undefined, to = ''): void {
    const [target, node] = [this.#place(toAt, to), this.#find(fromAt, from)]
    if (target && node !== undefined) this.#change([{ ...target, node }])
    else if (target) throw new Error('Cannot follow a link into the root')
  }

  #refuseBelow(path = ''): void {
    if (this.#place(undefined, path)) throw new Error('Cannot follow a symbolic link')
  }

  #change(changes: readonly NameChange[]): void {
    for (const { directory, name, node } of changes) {
      if (node === undefined) this.#names.get(directory)?.delete(name)
      else this.#names.get(directory)?.set(name, node)
    }
    this.steps.push({ kind: 'names', changes })
  }

  #seek(fd: string | undefined, position: number): void {
    const file = this.#files.get(Number(fd))
    if (file) file.position = position
  }

  #write(fd: string | undefined, data: Buffer, length: number, offset?: number): void {
    if (fd === '1') {
      this.steps.push({ kind: 'told', text: data.toString() })
      return
    }
    const file = this.#files.get(Number(fd))
    if (file === undefined) return
    if (data.length < length) throw new Error('Cannot follow a write: the trace cuts its bytes')
    const size = this.#sizes.get(file.node) ?? 0
    const at = offset ?? (file.appends ? size : file.position)
    if (offset === undefined) file.position = at + length
    this.#sizes.set(file.node, Math.max(size, at + length))
    this.steps.push({ kind: 'write', node: file.node, at, bytes: data.subarray(0, length) })
  }

  #resize(node: number | undefined, size = '0'): void {
    if (node === undefined) return
    this.#sizes.set(node, Number(size))
    this.steps.push({ kind: 'size', node, size: Number(size) })
  }

  #sync(fd: string | undefined, begun: number): void {
    const node = this.#files.get(Number(fd))?.node
    if (node === undefined) return
    this.steps.push({ kind: 'sync', node, covers: this.#stepsAt[begun] ?? this.steps.length })
  }
}

/** Splits at commas outside quotes and brackets; bytes are in hexadecimal and have no quotes of their own. */
function splitArguments(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at]
    if (sign === '"') {
      isQuoted = !isQuoted
      // Long strings are passed over at once.
      if (isQuoted) at = text.indexOf('"', at + 1) - 1
    } else if (!isQuoted && (sign === '[' || sign === '{')) depth += 1
    else if (!isQuoted && (sign === ']' || sign === '}')) depth -= 1
    else if (!isQuoted && depth === 0 && sign === ',') {
      parts.push(text.slice(start, at).trim())
      start = at + 1
    }
  }
  parts.push(text.slice(start).trim())
  return parts
}

/** Returns the bytes of all strings in a text: one for write, several for writev. */
function bytesOf(text: string): Buffer {
  const strings = text.match(/"[^"]*"(?:\.\.\.)?/g) ?? []
  if (strings.some((each) => each.endsWith('...'))) throw new Error('The trace cuts its bytes')
  const hex = strings.map((each) => each.slice(1, -1).replaceAll(String.raw`\x`, '')).join('')
  return Buffer.from(hex, 'hex')
}
