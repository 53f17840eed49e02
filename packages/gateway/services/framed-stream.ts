import { Duplex } from 'node:stream'

const headerBytes = 4

/**
 * Carries bytes both ways in pieces, each after its length (4 bytes, big-endian); a length of 0 ends its
 * direction. So each end may end its half first, whatever lies in between, and a broken connection never
 * looks complete: Node's TLS does not distinguish an end from a cut. Owns `inner`.
 */
export function framedStream(inner: Duplex): Duplex {
  let left = 0
  let header = Buffer.alloc(0)
  let hasEnd = false
  let isSaid = false
  const endWhenDone = (): void => {
    if (hasEnd && isSaid) inner.end()
  }
  const broken = (): void => void outer.destroy(new Error('Cannot go on: the connection broke off'))
  const outer: Duplex = new Duplex({
    allowHalfOpen: true,
    read: () => void inner.resume(),
    write(chunk: Uint8Array, _encoding, done) {
      if (chunk.length === 0) return done()
      inner.cork()
      inner.write(lengthOf(chunk.length))
      inner.write(chunk, done)
      inner.uncork()
    },
    final(done) {
      inner.write(lengthOf(0), (error) => {
        isSaid = true
        done(error)
        endWhenDone()
      })
    },
    destroy(error, done) {
      if (error || !hasEnd || !isSaid) inner.destroy()
      done(error)
    },
  })
  const takeHeader = (chunk: Buffer): Buffer => {
    const missing = headerBytes - header.length
    header = Buffer.concat([header, chunk.subarray(0, missing)])
    if (header.length < headerBytes) return chunk.subarray(missing)
    left = header.readUInt32BE(0)
    header = Buffer.alloc(0)
    if (left === 0) {
      hasEnd = true
      outer.push(null)
      endWhenDone()
    }
    return chunk.subarray(missing)
  }
  inner.on('data', (chunk: Buffer) => {
    let rest = chunk
    while (rest.length > 0) {
      if (hasEnd) return broken()
      if (left === 0) rest = takeHeader(rest)
      else {
        const piece = rest.subarray(0, left)
        left -= piece.length
        rest = rest.subarray(piece.length)
        if (!outer.push(piece)) inner.pause()
      }
    }
  })
  inner.on('error', (error) => outer.destroy(error))
  inner.on('end', () => {
    if (!hasEnd) broken()
  })
  inner.on('close', () => {
    if (!hasEnd || !isSaid) broken()
  })
  return outer
}

function lengthOf(bytes: number): Buffer {
  const header = Buffer.allocUnsafe(headerBytes)
  header.writeUInt32BE(bytes)
  return header
}
