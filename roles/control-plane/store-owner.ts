import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { readFileIfPresent } from '@skerry/bootstrap'
import { spkiHash } from '@skerry/pki'
import type { Store } from '@skerry/store'

const ownerKey = '/owner'
/** Marks the time in which the keys are created, so that an interrupted start can continue. */
const beginning = 'beginning'

export interface StorePlace {
  readonly directory: string
  readonly isInEtcd: boolean
  /** True accepts an empty store. */
  readonly newStore: boolean
  /** The operator has lost all keys and continues with a store in a file under new ones. */
  readonly givesUpKeys: boolean
}

/** Marks the store as that of this authority. Throws ExpectedError if another process did so meanwhile. */
export type FinishClaim = (authorityPem: string) => Promise<void>

/**
 * Compares the store with the keys in pki/, before missing ones are created. Throws ExpectedError if the
 * store is empty but there are keys, if it has objects but there are no keys, and if it belongs to another
 * cluster.
 */
export async function claimStore(store: Store, place: StorePlace): Promise<FinishClaim> {
  const { entry } = await store.get(ownerKey)
  const authorityPem = await readFileIfPresent(join(place.directory, 'pki', 'ca.crt'))
  // A damaged mark is ignored and written again.
  const owner = entry && !entry.isDamaged ? Buffer.from(entry.value).toString() : undefined
  if (owner !== undefined && owner !== beginning) {
    if (authorityPem !== undefined) requireSame(owner, authorityPem, place)
    else if (!mayTakeOver(place)) throw keysMissing(place)
  } else if (await hasObjects(store)) {
    // The store is older than the marks, or its first start was interrupted: then its keys exist.
    if (authorityPem === undefined && !mayTakeOver(place)) throw keysMissing(place)
  } else if (entry === undefined && authorityPem !== undefined && !place.newStore) {
    throw storeEmpty(place)
  }
  const revision = entry?.modRevision ?? (await begin(store, place))
  return (pem) => finish({ store, place, revision, owner }, pem)
}

interface Claim {
  readonly store: Store
  readonly place: StorePlace
  readonly revision: number
  readonly owner: string | undefined
}

async function finish({ store, place, revision, owner }: Claim, pem: string): Promise<void> {
  const hash = spkiHash(pem)
  if (owner === hash) return
  const value = Buffer.from(hash)
  const result = await store.write({ key: ownerKey, value, expectRevision: revision })
  if (result.isApplied) return
  throw foreign(place)
}

async function begin(store: Store, place: StorePlace): Promise<number> {
  const value = Buffer.from(beginning)
  const result = await store.write({ key: ownerKey, value, expectRevision: 0 })
  if (!result.isApplied) throw foreign(place)
  return result.revision
}

async function hasObjects(store: Store): Promise<boolean> {
  const { entries } = await store.list({ prefix: '/registry/', limit: 1 })
  return entries.length > 0
}

/** Allows it only if the lock of a file proves that no other process uses it. */
function mayTakeOver({ givesUpKeys, isInEtcd }: StorePlace): boolean {
  return givesUpKeys && !isInEtcd
}

/** Throws ExpectedError for a damaged certificate, too, because its owner is unknown. */
function requireSame(owner: string, authorityPem: string, place: StorePlace): void {
  let hash: string
  try {
    hash = spkiHash(authorityPem)
  } catch (cause) {
    throw new ExpectedError(
      `Cannot start: ${join(place.directory, 'pki', 'ca.crt')} is damaged; restore it from a backup`,
      exitCodes.dataDirectory,
      { cause },
    )
  }
  if (hash !== owner) throw foreign(place)
}

function foreign(place: StorePlace): ExpectedError {
  const { directory, isInEtcd } = place
  return refusal(
    isInEtcd
      ? 'the state under --etcd-prefix belongs to another site; choose another prefix, or use the data directory that belongs to it'
      : `${storeOf(place)} belongs to another cluster than ${join(directory, 'pki')}; restore the one that belongs to the other from a backup`,
  )
}

function keysMissing(place: StorePlace): ExpectedError {
  const { directory, isInEtcd } = place
  const pki = join(directory, 'pki')
  return refusal(
    isInEtcd
      ? `the state under --etcd-prefix belongs to another site, whose keys are not in ${pki}; choose another prefix, or restore the data directory that belongs to it`
      : `${storeOf(place)} has the objects of a cluster, and its keys are missing in ${pki}; restore that directory from a backup; if it is lost, pass --new-encryption-key, which gives up the Secrets and the trust of nodes and agents`,
  )
}

function storeEmpty(place: StorePlace): ExpectedError {
  const { directory, isInEtcd } = place
  const remedy = isInEtcd
    ? 'restore etcd from a snapshot, correct --etcd-servers or --etcd-prefix'
    : `run "skerry restore <backup> --data-dir ${directory}"`
  return refusal(
    `${storeOf(place)} is empty, and ${join(directory, 'pki')} is of a cluster that was here; ${remedy}, or pass --new-store to begin with an empty cluster`,
  )
}

function storeOf({ directory, isInEtcd }: StorePlace): string {
  return isInEtcd ? 'the state under --etcd-prefix' : join(directory, 'store.db')
}

function refusal(what: string): ExpectedError {
  return new ExpectedError(`Cannot start: ${what}`, exitCodes.dataDirectory)
}
