/** A control plane in this process, on a directory that the test chooses, for tests of what is kept there. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createMetrics,
  silentLogger,
  systemClock,
  systemRandom,
  type Clock,
  type Logger,
} from '@skerry/base'
import {
  bareRole,
  startControlPlane,
  type ControlPlane,
} from '../../roles/control-plane/control-plane.ts'
import type { ControlPlaneOptions } from '../../roles/control-plane/control-plane-options.ts'
import type { StoreOptions } from '../../roles/control-plane/store-options.ts'

export interface TestControlPlaneOptions
  extends StoreOptions, Pick<ControlPlaneOptions, 'access' | 'replicas'> {
  readonly clock?: Clock
  /** Default: discarded. */
  readonly log?: Logger
}

/** Starts it on a loopback port, with the built-in kinds. The caller disposes of it. */
export async function startTestControlPlane(
  directory: string,
  {
    clock = systemClock,
    log = silentLogger,
    access = {},
    replicas,
    ...store
  }: TestControlPlaneOptions = {},
): Promise<ControlPlane> {
  return startControlPlane(
    {
      directory,
      authorityName: 'test',
      listening: { bindAddress: '127.0.0.1', port: 0 },
      sans: () => ['127.0.0.1'],
      store,
      replicas,
      access,
    },
    bareRole,
    {
      clock,
      random: systemRandom,
      log,
      metrics: createMetrics(),
      signal: new AbortController().signal,
    },
  )
}

/** Starts it and stops it in order: the directory holds what a first start makes. */
export async function startAndStop(
  ...asked: Parameters<typeof startTestControlPlane>
): Promise<void> {
  await (await startTestControlPlane(...asked))[Symbol.asyncDispose]()
}

export interface ScratchDirectory extends AsyncDisposable {
  readonly path: string
}

/** Creates an empty directory that is deleted when it is disposed. */
export async function scratchDirectory(): Promise<ScratchDirectory> {
  const path = await mkdtemp(join(tmpdir(), 'skerry-control-plane-'))
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}
