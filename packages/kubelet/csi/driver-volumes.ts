import { mkdir, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { asError, type Clock, type Logger } from '@skerry/base'
import type { CSIDriverSpec, Pod } from '@skerry/api'
import { hasCode } from '../system-error.ts'
import { isRuntimeError } from '../cri/container-runtime.ts'
import { specOf } from '../pod/pod-spec.ts'
import { csiDefaults } from '../limits-table.ts'
import { setGroup } from '../volumes/fs-group.ts'
import { isMountPoint } from '../volumes/mounts.ts'
import {
  VolumeError,
  type CsiVolumeRequest,
  type CsiVolumes,
  type MountedVolume,
  type VolumeContext,
} from '../volumes/volume.ts'
import type { ApiFacts } from './api-facts.ts'
import type { ClaimExpansion } from './claim-expansion.ts'
import type { CsiDrivers, RegisteredDriver } from './csi-drivers.ts'
import {
  capabilityOf,
  checkLifecycle,
  describeVolume,
  needsAttach,
  needsStage,
  ownGroupOf,
  publishAttributes,
  tokensKey,
  type CsiVolume,
  type SecretName,
} from './describe-volume.ts'
import { KeyedLock } from '../keyed-lock.ts'
import type { VolumeLedger } from './volume-ledger.ts'
import { removeEmpty, type FoundRecord, type VolumePlaces } from './volume-record.ts'

export interface DriverVolumesDeps {
  clock: Clock
  log: Logger
  drivers: CsiDrivers
  facts: ApiFacts
  expansion: ClaimExpansion
  ledger: VolumeLedger
}

type Context = Pick<VolumeContext, 'sources' | 'nowMs'>

/** Everything that the calls for one volume need. */
interface Work {
  readonly volume: CsiVolume
  readonly places: VolumePlaces
  readonly driver: RegisteredDriver
  readonly policy: CSIDriverSpec | undefined
  readonly context: Context
  readonly publishContext: Readonly<Record<string, string>>
}

const { republishMs, expandRetryMs } = csiDefaults

/**
 * The volumes that CSI drivers provide on this node. Work on one volume is done in turn. Each act is on record before
 * its driver is asked, so that a kill at any moment leaves nothing that nobody takes back, and a volume that a pod
 * still uses is never unstaged.
 */
export class DriverVolumes implements CsiVolumes {
  readonly #deps: DriverVolumesDeps
  readonly #lock = new KeyedLock()

  constructor(deps: DriverVolumesDeps) {
    this.#deps = deps
  }

  async setUp(
    request: CsiVolumeRequest,
    context: Context,
    signal: AbortSignal,
  ): Promise<MountedVolume> {
    const volume = describeVolume(request)
    return this.#lock.run(volume.uniqueName, signal, () => this.#provide(volume, context, signal))
  }

  async tearDown(podUid: string, signal: AbortSignal): Promise<void> {
    const { ledger } = this.#deps
    const failures: unknown[] = []
    for (const found of ledger.publishedFor(podUid)) {
      const { driverName, volumeHandle } = found.record
      try {
        await this.#lock.run(ledger.nameOf(found.record), signal, () =>
          this.#takeBack(found, signal),
        )
      } catch (cause) {
        signal.throwIfAborted()
        const text = `Cannot unmount volume ${volumeHandle} of driver ${driverName}`
        failures.push(new Error(`${text}: ${asError(cause).message}`, { cause }))
      }
    }
    const [first] = failures
    if (first !== undefined) throw first
    ledger.releaseWaiting(podUid)
  }

  async #provide(volume: CsiVolume, context: Context, signal: AbortSignal): Promise<MountedVolume> {
    const { drivers, facts, ledger } = this.#deps
    const places = ledger.placesOf(volume)
    const known = ledger.publishedAt(places.publishedRecord)?.record
    const isThere = known !== undefined && (await this.#isCurrent(known))
    const driver = isThere ? drivers.find(volume.driverName) : drivers.get(volume.driverName)
    const mounted: MountedVolume = {
      hostPath: places.target,
      isReadOnly: volume.isReadOnly,
      ...(volume.isBlock ? { isBlock: true } : {}),
    }
    // A volume that is in its place is served without its driver, which may be starting again.
    if (!driver) return mounted
    const before = known ?? ledger.stagedAt(places.stagedRecord)?.record
    const recorded = before && { policy: before.driver }
    const policy = isThere
      ? known.driver
      : await facts.policyOf(volume.driverName, recorded, signal)
    const mustRepeat = policy?.requiresRepublish === true
    const work = { volume, places, driver, policy, context }
    if (!isThere) await this.#publish(work, signal)
    else if (mustRepeat)
      await this.#publishAgain({ ...work, publishContext: known.publishContext }, signal)
    const isExpanded = await this.#expand({ volume, places, driver, context }, signal)
    if (!mustRepeat && isExpanded) return mounted
    return { ...mounted, refreshAtMs: context.nowMs + (mustRepeat ? republishMs : expandRetryMs) }
  }

  /** A mount does not outlive the boot, and may have been undone by somebody else. */
  async #isCurrent({ isDone, bootID, path, isBlock }: FoundRecord['record']): Promise<boolean> {
    if (!isDone || bootID !== this.#deps.ledger.bootId) return false
    return isBlock ? isBlockDevice(path) : isMountPoint(path)
  }

  async #publish(work: Omit<Work, 'publishContext'>, signal: AbortSignal): Promise<void> {
    const { volume, places, driver, policy } = work
    const { ledger, facts } = this.#deps
    checkLifecycle(volume, policy)
    const isAttachable = needsAttach(volume, policy)
    let publishContext: Readonly<Record<string, string>> = {}
    if (isAttachable) {
      ledger.await(volume.uniqueName, volume.podUid)
      const recorded =
        ledger.stagedAt(places.stagedRecord) ?? ledger.publishedAt(places.publishedRecord)
      const known = recorded?.record.publishContext
      publishContext = await facts.attachment(volume, known, signal)
    }
    const whole: Work = { ...work, publishContext }
    const record = ledger.recordOf(volume, { isAttachable, publishContext, policy })
    const own = { ...record, path: places.target, podUID: volume.podUid }
    // It comes before the volume is staged, too: whatever happens next, the end of the pod undoes both.
    await ledger.publish(places.publishedRecord, { ...own, isDone: false })
    if (needsStage(volume, driver.capabilities)) await this.#stage(whole, isAttachable, signal)
    await mkdir(dirname(places.target), { recursive: true, mode: 0o750 })
    await this.#askToPublish(whole, signal)
    const gid = ownGroupOf(volume, policy, driver.capabilities)
    const changePolicy = specOf(volume.pod).securityContext?.fsGroupChangePolicy
    await setGroup(places.target, {
      gid,
      isRecursive: true,
      isSkippedWhenRight: changePolicy === 'OnRootMismatch',
    })
    await ledger.publish(places.publishedRecord, { ...own, isDone: true })
  }

  /** Only brings news, such as tokens: what is mounted stays as it is if the driver or the API is away. */
  async #publishAgain(work: Work, signal: AbortSignal): Promise<void> {
    try {
      await this.#askToPublish(work, signal)
    } catch (error) {
      signal.throwIfAborted()
      const { driverName, volumeHandle } = work.volume
      const fields = { driver: driverName, volume: volumeHandle, error: asError(error) }
      this.#deps.log.info('Volume not published again', fields)
    }
  }

  async #stage(work: Work, isAttachable: boolean, signal: AbortSignal): Promise<void> {
    const { volume, places, driver, policy, context, publishContext } = work
    const { ledger } = this.#deps
    const known = ledger.stagedAt(places.stagedRecord)?.record
    const isUsed = known?.isDone === true && known.bootID === ledger.bootId
    if (isUsed && (volume.isBlock || (await isMountPoint(places.staging)))) return
    const record = ledger.recordOf(volume, { isAttachable, publishContext, policy })
    const own = { ...record, path: places.staging }
    await ledger.stage(places.stagedRecord, { ...own, isDone: false })
    await mkdir(places.staging, { recursive: true, mode: 0o750 })
    await driver.calls.stage(
      {
        volumeId: volume.volumeHandle,
        publishContext,
        stagingTargetPath: places.staging,
        volumeCapability: capabilityOf(volume, driver.capabilities),
        secrets: secretOf(volume.stageSecret, context),
        volumeContext: volume.attributes,
      },
      signal,
    )
    await ledger.stage(places.stagedRecord, { ...own, isDone: true })
  }

  async #askToPublish(
    { volume, places, driver, policy, context, publishContext }: Work,
    signal: AbortSignal,
  ): Promise<void> {
    const tokens = await tokensOf(volume.pod, policy, context, signal)
    const isSecret = policy?.serviceAccountTokenInSecrets === true
    await driver.calls.publish(
      {
        volumeId: volume.volumeHandle,
        publishContext,
        stagingTargetPath: needsStage(volume, driver.capabilities) ? places.staging : '',
        targetPath: places.target,
        volumeCapability: capabilityOf(volume, driver.capabilities),
        readonly: volume.isReadOnly,
        secrets: { ...secretOf(volume.publishSecret, context), ...(isSecret ? tokens : {}) },
        volumeContext: { ...publishAttributes(volume, policy), ...(isSecret ? {} : tokens) },
      },
      signal,
    )
  }

  async #expand(
    { volume, places, driver, context }: Pick<Work, 'volume' | 'places' | 'driver' | 'context'>,
    signal: AbortSignal,
  ): Promise<boolean> {
    return this.#deps.expansion.expand(
      {
        volume,
        driver,
        volumePath: places.target,
        stagingTargetPath: needsStage(volume, driver.capabilities) ? places.staging : '',
        secrets: () => secretOf(volume.expandSecret, context),
      },
      signal,
    )
  }

  /** Unpublishes, and unstages after the last pod of this node. */
  async #takeBack(found: FoundRecord, signal: AbortSignal): Promise<void> {
    const { drivers, ledger, log } = this.#deps
    const { record, directory } = found
    const driver = drivers.get(record.driverName)
    const { volumeHandle: volumeId, path: targetPath } = record
    await ifKnown(targetPath, () => driver.calls.unpublish({ volumeId, targetPath }, signal))
    await removeTarget(record)
    const staged = ledger.stagedAs(record)
    if (staged && !ledger.isPublishedElsewhere(found)) {
      const { path: stagingTargetPath } = staged.record
      await ifKnown(stagingTargetPath, () =>
        driver.calls.unstage({ volumeId, stagingTargetPath }, signal),
      )
      await checkUnmounted(stagingTargetPath)
      await ledger.unstage(staged)
    }
    // It leaves last, so that after a kill all of this is done again.
    await ledger.unpublish(directory)
    log.debug('Volume taken back', { driver: driver.name, volume: volumeId })
  }
}

/** A volume that the driver no longer knows cannot be mounted either; the caller makes sure of that. */
async function ifKnown(path: string, call: () => Promise<void>): Promise<void> {
  try {
    await call()
  } catch (error) {
    if (!isRuntimeError(error, 'NotFound') || (await isMountPoint(path))) throw error
  }
}

/** The driver removes the target; some leave an empty one. */
async function removeTarget({ path, isBlock }: FoundRecord['record']): Promise<void> {
  await checkUnmounted(path)
  if (!isBlock) return removeEmpty(path)
  await rm(path, { force: true })
  // Other pods may have the device.
  await removeEmpty(dirname(path)).catch((error: unknown) => {
    if (!hasCode(error, 'ENOTEMPTY')) throw error
  })
}

/** Trusts no driver that says so: removing files below a mount would remove data. */
async function checkUnmounted(path: string): Promise<void> {
  if (await isMountPoint(path)) throw new Error(`the driver has left ${path} mounted`)
}

async function isBlockDevice(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isBlockDevice()
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

function secretOf(name: SecretName | undefined, { sources }: Context): Record<string, string> {
  if (!name) return {}
  const secret = sources.secret(name.namespace, name.name)
  if (!secret) throw new VolumeError(`secret "${name.namespace}/${name.name}" not found`)
  return Object.fromEntries(
    Object.entries(secret.data ?? {}).map(([key, value]) => [
      key,
      Buffer.from(value, 'base64').toString(),
    ]),
  )
}

async function tokensOf(
  pod: Pod,
  policy: CSIDriverSpec | undefined,
  { sources }: Context,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const requests = policy?.tokenRequests ?? []
  if (requests.length === 0) return {}
  const tokens: Record<string, { token: string; expirationTimestamp: string }> = {}
  for (const { audience = '', expirationSeconds = 3600 } of requests) {
    const { token, expiresAtMs } = await sources.token({ pod, audience, expirationSeconds }, signal)
    tokens[audience] = { token, expirationTimestamp: new Date(expiresAtMs).toISOString() }
  }
  return { [tokensKey]: JSON.stringify(tokens) }
}
