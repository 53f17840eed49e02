import {
  createEncryptedStore,
  followFile,
  readEncryptionConfig,
  type EncryptedStore,
  type EncryptionPlan,
} from '@skerry/apiserver'
import type { Task } from '@skerry/base'
import type { Store } from '@skerry/store'
import type { RoleContext } from '../runtime/role-context.ts'
import { fileHash } from './encryption-keys.ts'
import type { KeyPlugins } from './key-plugins.ts'
import { controlPlaneBounds } from './limits-table.ts'
import { SharedEncryption } from './shared-encryption.ts'

export interface EncryptionFile {
  readonly path: string
  readonly text: string
  readonly plan: EncryptionPlan
}

/** The keys of encryption at rest while a control plane runs. */
export interface EncryptionInUse {
  /** The store with encryption between it and the server. */
  readonly store: EncryptedStore
  /** Call this once the keys are shared, before anything is written. */
  useShared(): Promise<void>
  /** Follows the keys; `onKeys` is called when other values may have become readable. */
  follow(onKeys: () => Promise<void>): Task
}

const { lookMs } = controlPlaneBounds.accessFiles

/** `sharedIn` is the data directory if other servers have the same keys; otherwise the file alone counts. */
export function useEncryption(
  inner: Store,
  file: EncryptionFile,
  { plugins, sharedIn }: { plugins: KeyPlugins; sharedIn: string | undefined },
  context: RoleContext,
): EncryptionInUse {
  const { path, text, plan } = file
  const shared =
    sharedIn === undefined
      ? undefined
      : new SharedEncryption({ store: inner, directory: sharedIn, path }, text, context)
  const store = createEncryptedStore(inner, plan, shared)
  const info = context.metrics.gauge(
    'apiserver_encryption_config_controller_last_config_info',
    'The encryption configuration that is in use, by the hash of its file.',
    ['hash'],
  )
  let onReadable = (): Promise<void> => Promise.resolve()
  const onKeys = async (next: string): Promise<void> => {
    await onReadable()
    info.reset()
    info.set({ hash: fileHash(next) }, 1)
  }
  info.set({ hash: fileHash(text) }, 1)
  const setPlan = (next: EncryptionPlan): void => store.setPlan(next)
  const replace: KeyPlugins['replace'] = (plan, use) => plugins.replace(plan, use)
  const onFile = async (next: string): Promise<void> => {
    const plan = await readEncryptionConfig(next, context)
    await plugins.replace(plan, () => setPlan(plan))
    await onKeys(next)
  }
  return {
    store,
    useShared: async () => shared?.begin({ replace, setPlan, onKeys }),
    follow: (listener) => {
      onReadable = listener
      if (shared) return (signal) => shared.follow(signal)
      return (signal) => followFile({ path, text, lookMs }, onFile, context, signal)
    },
  }
}
