/**
 * Serves a disk with the volatile cache of a drive to one virtual machine over NBD: writes stay in memory until the
 * machine flushes them. The death of this process is a power cut: they are lost. After SIGUSR2 it dies like a drive that
 * was writing them back in any order: half of the sectors, chosen by SEED, are stored.
 * Run: node volatile-disk.ts IMAGE SOCKET [SEED]
 */
import { createHash } from 'node:crypto'
import { fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'

const blockBytes = 4_096
/** A drive stores a sector whole or not at all. */
const sectorBytes = 512

/** An image, and above it the blocks that were written and not flushed. */
class VolatileImage {
  readonly bytes: number
  readonly #file: number
  readonly #unflushed = new Map<number, Buffer>()

  constructor(path: string) {
    this.#file = openSync(path, 'r+')
    this.bytes = fstatSync(this.#file).size
  }

  read(offset: number, length: number): Buffer {
    const answer = Buffer.alloc(length)
    readSync(this.#file, answer, 0, length, offset)
    for (const { block, from, to, at } of pieces(offset, length)) {
      this.#unflushed.get(block)?.copy(answer, at, from, to)
    }
    return answer
  }

  write(offset: number, data: Buffer): void {
    for (const { block, from, to, at } of pieces(offset, data.length)) {
      const content = this.#unflushed.get(block) ?? this.#stored(block)
      data.copy(content, from, at, at + to - from)
      this.#unflushed.set(block, content)
    }
  }

  /** Stores the blocks of a range, as a write with FUA asks. */
  flushRange(offset: number, length: number): void {
    this.#store(pieces(offset, length).map(({ block }) => block))
  }

  flush(): void {
    this.#store([...this.#unflushed.keys()])
  }

  /** Stores half of the unflushed sectors, which the seed chooses. */
  flushHalf(seed: string): void {
    for (const [block, content] of this.#unflushed) {
      const choice = createHash('sha256').update(`${seed} ${block}`).digest()
      for (let at = 0; at < blockBytes; at += sectorBytes) {
        if (choice.readUInt8(at / sectorBytes) < 128) continue
        writeSync(this.#file, content, at, sectorBytes, block * blockBytes + at)
      }
    }
  }

  #stored(block: number): Buffer {
    const content = Buffer.alloc(blockBytes)
    readSync(this.#file, content, 0, blockBytes, block * blockBytes)
    return content
  }

  #store(blocks: readonly number[]): void {
    for (const block of blocks) {
      const content = this.#unflushed.get(block)
      if (content === undefined) continue
      writeSync(this.#file, content, 0, blockBytes, block * blockBytes)
      this.#unflushed.delete(block)
    }
  }
}

interface Piece {
  readonly block: number
  /** The part of the block. */
  readonly from: number
  readonly to: number
  /** Its place in the range. */
  readonly at: number
}

function pieces(offset: number, length: number): Piece[] {
  const found: Piece[] = []
  for (let at = 0; at < length;) {
    const block = Math.floor((offset + at) / blockBytes)
    const from = (offset + at) % blockBytes
    const to = Math.min(blockBytes, from + length - at)
    found.push({ block, from, to, at })
    at += to - from
  }
  return found
}

/** The numbers of the NBD protocol, as its specification has them. */
const nbd = {
  reply: 0x67446698,
  optionReply: 0x3e889045565a9n,
  options: { exportName: 1, abort: 2, info: 6, go: 7 },
  answers: { ack: 1, info: 3, unsupported: 0x80000001 },
  commands: { read: 0, write: 1, disconnect: 2, flush: 3, trim: 4, zero: 6 },
  /** HAS_FLAGS, SEND_FLUSH, SEND_FUA, SEND_TRIM, SEND_WRITE_ZEROES. */
  exportFlags: 1 | 4 | 8 | 32 | 64,
  invalid: 22,
  fua: 1,
}

function greet(socket: Socket): void {
  const greeting = Buffer.alloc(18)
  greeting.write('NBDMAGICIHAVEOPT')
  // FIXED_NEWSTYLE and NO_ZEROES.
  greeting.writeUInt16BE(3, 16)
  socket.write(greeting)
}

function answerOption(socket: Socket, [option, type]: readonly [number, number], data: Buffer) {
  const head = Buffer.alloc(20)
  head.writeBigUInt64BE(nbd.optionReply, 0)
  head.writeUInt32BE(option, 8)
  head.writeUInt32BE(type, 12)
  head.writeUInt32BE(data.length, 16)
  socket.write(Buffer.concat([head, data]))
}

function exportInfo(image: VolatileImage): Buffer {
  const info = Buffer.alloc(12)
  info.writeBigUInt64BE(BigInt(image.bytes), 2)
  info.writeUInt16BE(nbd.exportFlags, 10)
  return info
}

/** Answers one option. Returns true when requests follow. */
function takeOption(socket: Socket, option: number, image: VolatileImage): boolean {
  const { options, answers } = nbd
  const nothing = Buffer.alloc(0)
  if (option === options.exportName) {
    socket.write(exportInfo(image).subarray(2))
    return true
  }
  if (option === options.info || option === options.go) {
    answerOption(socket, [option, answers.info], exportInfo(image))
    answerOption(socket, [option, answers.ack], nothing)
    return option === options.go
  }
  if (option === options.abort) {
    answerOption(socket, [option, answers.ack], nothing)
    socket.end()
    return false
  }
  answerOption(socket, [option, answers.unsupported], nothing)
  return false
}

interface Request {
  readonly isForced: boolean
  readonly command: number
  readonly offset: number
  readonly length: number
  readonly data: Buffer
}

/** Carries out a request. Returns what was read, or the number of an error. */
function carryOut(image: VolatileImage, request: Request): Buffer | number {
  const { commands } = nbd
  const { command, offset, length, data, isForced } = request
  switch (command) {
    case commands.read:
      return image.read(offset, length)
    case commands.write:
    case commands.zero:
      image.write(offset, command === commands.zero ? Buffer.alloc(length) : data)
      if (isForced) image.flushRange(offset, length)
      return 0
    case commands.flush:
      image.flush()
      return 0
    case commands.trim:
      return 0
    default:
      return nbd.invalid
  }
}

const requestBytes = 28

function serve(socket: Socket, image: VolatileImage): void {
  let buffer = Buffer.alloc(0)
  let state: 'flags' | 'options' | 'requests' = 'flags'
  greet(socket)
  socket.on('error', () => undefined)
  /** Takes one message off the buffer. Returns false if it is not whole yet. */
  const take = (): boolean => {
    if (state === 'flags') {
      if (buffer.length < 4) return false
      buffer = buffer.subarray(4)
      state = 'options'
      return true
    }
    if (state === 'options') {
      if (buffer.length < 16) return false
      const end = 16 + buffer.readUInt32BE(12)
      if (buffer.length < end) return false
      const option = buffer.readUInt32BE(8)
      buffer = buffer.subarray(end)
      if (takeOption(socket, option, image)) state = 'requests'
      return true
    }
    return takeRequest()
  }
  const takeRequest = (): boolean => {
    if (buffer.length < requestBytes) return false
    const command = buffer.readUInt16BE(6)
    const length = buffer.readUInt32BE(24)
    const end = requestBytes + (command === nbd.commands.write ? length : 0)
    if (buffer.length < end) return false
    if (command === nbd.commands.disconnect) {
      socket.destroy()
      return false
    }
    const head = Buffer.alloc(16)
    head.writeUInt32BE(nbd.reply, 0)
    buffer.copy(head, 8, 8, 16)
    const answer = carryOut(image, {
      isForced: (buffer.readUInt16BE(4) & nbd.fua) !== 0,
      command,
      length,
      offset: Number(buffer.readBigUInt64BE(16)),
      data: buffer.subarray(requestBytes, end),
    })
    if (typeof answer === 'number') head.writeUInt32BE(answer, 4)
    socket.write(typeof answer === 'number' ? head : Buffer.concat([head, answer]))
    buffer = buffer.subarray(end)
    return true
  }
  socket.on('data', (chunk: Buffer) => {
    buffer = Buffer.concat([buffer, chunk])
    while (take());
  })
}

const [imagePath = '', socketPath = '', seed = '0'] = process.argv.slice(2)
const image = new VolatileImage(imagePath)
process.once('SIGUSR2', () => {
  image.flushHalf(seed)
  process.exit(0)
})
rmSync(socketPath, { force: true })
createServer((socket) => serve(socket, image)).listen(socketPath)
