import { createHash } from 'node:crypto'

/**
 * Derives the id of a virtual cluster: a UUIDv5 (RFC 9562, section 5.5) of the edge cluster's id and the name
 * on the hub. A virtual cluster that is deleted and recreated under its name keeps its id; under another name
 * it gets another id, so that the old one can leave while the new one joins.
 */
export function virtualIdOf(edgeId: string, clusterName: string): string {
  const space = Buffer.from(edgeId.replaceAll('-', ''), 'hex')
  const digest = createHash('sha1').update(space).update(clusterName).digest().subarray(0, 16)
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x50, 6)
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = digest.toString('hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-')
}
