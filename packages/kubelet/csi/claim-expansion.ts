import {
  compareQuantities,
  isStatusError,
  parseQuantity,
  quantityToNumber,
  type PersistentVolumeClaim,
} from '@skerry/api'
import { asError, withTimeout, type Clock, type Logger } from '@skerry/base'
import { resources, type ClusterClient, type EventRecorder } from '@skerry/client'
import { isRuntimeError } from '../cri/container-runtime.ts'
import { csiDefaults } from '../limits-table.ts'
import type { RegisteredDriver } from './csi-drivers.ts'
import { capabilityOf, type CsiVolume } from './describe-volume.ts'

export interface ExpansionRequest {
  volume: CsiVolume
  driver: RegisteredDriver
  volumePath: string
  stagingTargetPath: string
  /** Throws VolumeError if a secret is missing. */
  secrets: () => Readonly<Record<string, string>>
}

interface ClaimExpansionDeps {
  cluster: ClusterClient
  clock: Clock
  log: Logger
  events: EventRecorder
}

const storage = 'storage'
const resizing: ReadonlySet<string> = new Set(['Resizing', 'FileSystemResizePending'])

/**
 * Grows the file systems of volumes that have grown, and says so in the status of their claims: the node's half of an
 * expansion (KEP-556, KEP-1790). The driver's external-resizer does the other half before.
 */
export class ClaimExpansion {
  readonly #deps: ClaimExpansionDeps
  /** The sizes to which this node has grown volumes, by their unique names: the copies of claims here may be older. */
  readonly #grown = new Map<string, string>()

  constructor(deps: ClaimExpansionDeps) {
    this.#deps = deps
  }

  /** Resolves with false if it has to be tried again. A failure keeps no pod from starting: its volume has its former size. */
  async expand(request: ExpansionRequest, signal: AbortSignal): Promise<boolean> {
    const { volume, driver } = request
    const size = wantedSize(volume)
    if (size === undefined || !driver.capabilities.has('EXPAND_VOLUME')) return true
    if (this.#grown.get(volume.uniqueName) === size) return true
    const { pod, persistent } = volume
    const name = persistent?.volume.metadata.name ?? ''
    try {
      await this.#mark(persistent?.claim, { [storage]: 'NodeResizeInProgress' }, signal)
      await driver.calls.expand(expandRequest(request, size), signal)
      await this.#report(persistent?.claim, size, signal)
      this.#grown.set(volume.uniqueName, size)
      const message = `MountVolume.NodeExpandVolume succeeded for volume "${name}"`
      this.#deps.events.event(pod, {
        type: 'Normal',
        reason: 'FileSystemResizeSuccessful',
        message,
      })
      return true
    } catch (error) {
      signal.throwIfAborted()
      const message = `NodeExpandVolume failed for volume "${name}" : ${asError(error).message}`
      this.#deps.events.event(pod, { type: 'Warning', reason: 'VolumeResizeFailed', message })
      this.#deps.log.info('Volume not expanded', { volume: name, error: asError(error) })
      if (isRuntimeError(error, 'InvalidArgument') || isRuntimeError(error, 'OutOfRange')) {
        await this.#mark(persistent?.claim, { [storage]: 'NodeResizeInfeasible' }, signal)
      }
      return false
    }
  }

  /** Sets the state of the resize. It is a word for people and for the resizer, and its failure stops nothing. */
  async #mark(
    claim: PersistentVolumeClaim | undefined,
    allocatedResourceStatuses: Record<string, string>,
    signal: AbortSignal,
  ): Promise<void> {
    if (claim?.status?.allocatedResources?.[storage] === undefined) return
    try {
      await this.#patch(claim, { allocatedResourceStatuses }, signal)
    } catch (error) {
      signal.throwIfAborted()
      this.#deps.log.debug('State of an expansion not reported', { error: asError(error) })
    }
  }

  async #report(
    claim: PersistentVolumeClaim | undefined,
    size: string,
    signal: AbortSignal,
  ): Promise<void> {
    if (!claim) return
    const fresh = await this.#read(claim, signal)
    if (!fresh) return
    const conditions = (fresh.status?.conditions ?? []).filter(({ type }) => !resizing.has(type))
    const capacity = { [storage]: size }
    const status = { capacity, conditions, allocatedResourceStatuses: { [storage]: null } }
    await this.#patch(fresh, status, signal)
  }

  async #read(
    { metadata }: PersistentVolumeClaim,
    signal: AbortSignal,
  ): Promise<PersistentVolumeClaim | undefined> {
    const { namespace = '', name = '' } = metadata
    const claims = this.#deps.cluster.resource(resources.persistentVolumeClaims)
    try {
      return await this.#soon(signal, (scope) => claims.get({ namespace, name }, scope))
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined
      throw error
    }
  }

  async #patch(
    { metadata }: PersistentVolumeClaim,
    status: object,
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace = '', name = '' } = metadata
    const claims = this.#deps.cluster.resource(resources.persistentVolumeClaims)
    const patch = { status }
    await this.#soon(signal, (scope) =>
      claims.patchStatus({ type: 'merge', namespace, name, patch }, scope),
    )
  }

  #soon<T>(signal: AbortSignal, ask: (scope: AbortSignal) => Promise<T>): Promise<T> {
    const message = 'no answer from the API in time'
    const { clock } = this.#deps
    return withTimeout({ ms: csiDefaults.requestTimeoutMs, message, clock }, signal, ask)
  }
}

/** Returns the size that the volume has and its claim does not show yet. */
function wantedSize({ persistent, isReadOnly }: CsiVolume): string | undefined {
  if (!persistent || isReadOnly) return undefined
  const { volume, claim } = persistent
  const size = volume.spec?.capacity?.[storage]
  const shown = claim.status?.capacity?.[storage]
  if (size === undefined || shown === undefined) return undefined
  if (compareQuantities(parseQuantity(size), parseQuantity(shown)) <= 0) return undefined
  const isInfeasible =
    claim.status?.allocatedResourceStatuses?.[storage] === 'NodeResizeInfeasible' &&
    claim.status.allocatedResources?.[storage] === size
  return isInfeasible ? undefined : size
}

function expandRequest(
  { volume, driver, volumePath, stagingTargetPath, secrets }: ExpansionRequest,
  size: string,
): Parameters<RegisteredDriver['calls']['expand']>[0] {
  return {
    volumeId: volume.volumeHandle,
    volumePath,
    capacityRange: { requiredBytes: quantityToNumber(size), limitBytes: 0 },
    stagingTargetPath,
    volumeCapability: capabilityOf(volume, driver.capabilities),
    secrets: secrets(),
  }
}
