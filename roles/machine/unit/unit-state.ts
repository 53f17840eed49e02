import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isJsonObject } from '@skerry/api'
import { ExpectedError, exitCodes, makeDirectoryDurably } from '@skerry/base'
import { firstRecords, type NodeRecord, type UnitRecord } from '@skerry/edge-apps'
import { codeOf, writeFileDurably } from '../../runtime/data-directory.ts'
import type { UnitJoin, UnitSettings } from '../../site/units/unit-order.ts'

/** The records of a unit's own control plane and of its node, which one machine keeps for both. */
export interface UnitState {
  /** Set while this machine runs the unit's control plane in addition to the one that speaks for the unit. */
  readonly joined?: JoinedMaster | undefined
  /** The last unit that this node went with. If omitted, it never did. */
  readonly unit?: string | undefined
  readonly record: UnitRecord
  readonly node: NodeRecord
  /** Those of the parent, known once it has given an order. */
  readonly settings?: UnitSettings | undefined
}

/** A further server of a unit. It acts in one generation. */
export interface JoinedMaster {
  readonly generation: number
  /** The server that it joins at its first start. If omitted, it is a member already. */
  readonly way?: Pick<UnitJoin, 'server' | 'caHash'> | undefined
}

const firstState: UnitState = Object.freeze({
  record: firstRecords.unit,
  node: firstRecords.node,
})

/** The paths of everything that a machine keeps for its unit. */
export function unitPaths(dataDir: string) {
  const directory = join(dataDir, 'unit')
  return {
    directory,
    state: join(directory, 'state.json'),
    site: join(directory, 'site'),
    /** The node's identity at the parent while it obeys its unit, as in a data directory. */
    parent: join(directory, 'parent'),
    token: join(directory, 'token'),
    /** The token of a further server, until it serves. */
    masterToken: join(directory, 'master-token'),
    log: join(directory, 'site.log'),
    /** An etcd that was installed for the unit. */
    etcdProgram: join(directory, 'etcd-program'),
    content: (digest: string) => join(directory, `${digest}.db`),
  }
}

/** Throws ExpectedError if the file is damaged: without it nobody knows which side acts. */
export async function readState(dataDir: string): Promise<UnitState> {
  const { state: path } = unitPaths(dataDir)
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    const isWhole =
      isJsonObject(value) && isJsonObject(value['record']) && isJsonObject(value['node'])
    // Only writeState writes it.
    if (isWhole) return value as unknown as UnitState
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return firstState
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new ExpectedError(
    `Cannot start node: ${path} is damaged, which says what its unit does; restore it from a backup`,
    exitCodes.dataDirectory,
  )
}

export async function writeState(dataDir: string, state: UnitState): Promise<void> {
  const { directory, state: path } = unitPaths(dataDir)
  await makeDirectoryDurably(directory)
  await writeFileDurably(path, `${JSON.stringify(state)}\n`)
}
