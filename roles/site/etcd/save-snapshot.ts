import { createHash } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { EtcdMemberClient } from '@skerry/store'

const digestSize = 32

/** Writes a member's snapshot durably, or nothing. Returns its size. Throws if it is not what the member sent. */
export async function saveSnapshot(
  client: EtcdMemberClient,
  path: string,
  signal: AbortSignal,
): Promise<number> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.part`
  try {
    const bytes = await writeSnapshot(client, temporary, signal)
    await rename(temporary, path)
    await using directory = await open(dirname(path), 'r')
    await directory.sync()
    return bytes
  } finally {
    await rm(temporary, { force: true })
  }
}

async function writeSnapshot(
  client: EtcdMemberClient,
  path: string,
  signal: AbortSignal,
): Promise<number> {
  await using file = await open(path, 'w', 0o600)
  const hash = createHash('sha256')
  let tail = Buffer.alloc(0)
  let bytes = 0
  for await (const part of client.snapshot(signal)) {
    await file.writeFile(part)
    bytes += part.length
    // The last bytes are the digest of all before them.
    const both = Buffer.concat([tail, part])
    const cut = Math.max(0, both.length - digestSize)
    hash.update(both.subarray(0, cut))
    tail = Buffer.from(both.subarray(cut))
  }
  if (!hash.digest().equals(tail)) {
    throw new Error(`Cannot save a snapshot: ${bytes} bytes came, and their digest is wrong`)
  }
  await file.sync()
  return bytes
}
