import { join } from 'node:path'
import { isStatusError, type Secret } from '@skerry/api'
import {
  createBackoff,
  ExpectedError,
  exitCodes,
  unlessAborted,
  logFailure,
  type Task,
} from '@skerry/base'
import {
  ensureDirectory,
  publicMode,
  readFileIfPresent,
  writeCertificateAndKey,
  writeFileDurably,
  type CertificateAndKey,
} from '@skerry/bootstrap'
import { resources, type ClusterClient } from '@skerry/client'
import { validityOf } from '@skerry/pki'
import type { RoleContext } from '../runtime/role-context.ts'
import type { AgentIdentity } from './agent-identity.ts'
import { agentBounds } from './limits-table.ts'

export interface IdentitySecretOptions {
  readonly local: ClusterClient
  /** The existing Secret, as `namespace/name`. */
  readonly secret: string
  /** The directory of the agent's identity; a pod's is lost with the pod. */
  readonly directory: string
  /**
   * A virtual cluster, whose identity is kept next to the whole cluster's and trusts the same authority. If
   * omitted, the whole cluster.
   */
  readonly child?: string
}

export interface IdentitySecret {
  /** Restores the files that an earlier pod left in the Secret; a newer one on disk stays. */
  restore(signal: AbortSignal): Promise<void>
  /** Writes the identity there, and each that follows. */
  keep(identity: AgentIdentity): Task
  /** Takes it out of the Secret, where it is one. */
  clear(signal: AbortSignal): Promise<void>
}

const files = Object.freeze({
  certificate: 'agent.crt',
  key: 'agent.key',
  /** The parent has it for its virtual clusters. */
  authority: 'ca.crt',
})

/** The identity of an agent that is a pod: without it a pod that moves would need a new token. */
export function createIdentitySecret(
  options: IdentitySecretOptions,
  context: RoleContext,
): IdentitySecret {
  const { local, directory, child } = options
  const key = parseKey(options.secret)
  const kept = Object.values(files).filter(
    (name) => child === undefined || name !== files.authority,
  )
  const keyOf = (name: string): string => (child === undefined ? name : `${child}.${name}`)
  const secrets = local.resource(resources.secrets)
  return {
    async restore(signal) {
      const found = await patiently(context, signal, () => secrets.get(key, signal))
      const texts = textsOf(found)
      const [certificatePem, privateKeyPem, authorityPem] = kept.map((name) => texts[keyOf(name)])
      if (kept.some((name) => !texts[keyOf(name)]) || !certificatePem || !privateKeyPem) return
      const present = await readFileIfPresent(join(directory, files.certificate))
      if (present !== undefined && endOf(present) >= endOf(certificatePem)) return
      await ensureDirectory(directory)
      if (authorityPem !== undefined) {
        await writeFileDurably(join(directory, files.authority), authorityPem, publicMode)
      }
      const paths = {
        certificatePath: join(directory, files.certificate),
        keyPath: join(directory, files.key),
      }
      await writeCertificateAndKey(paths, { certificatePem, privateKeyPem })
      context.log.info('Identity restored', { secret: options.secret })
    },
    keep: (identity) => async (signal) => {
      const write = (client: CertificateAndKey) =>
        patiently(context, signal, async () => {
          const contents = contentsOf(client, identity.authorityPem)
          const data = Object.fromEntries(kept.map((name) => [keyOf(name), contents[name]]))
          await secrets.patch({ ...key, type: 'merge', patch: { data } }, signal)
        })
      const renewed = { wake: () => {} }
      using _listening = identity.client.onRenewed(() => renewed.wake())
      for (;;) {
        const written = identity.client.current
        const next = new Promise<void>((resolve) => (renewed.wake = resolve))
        await write(written)
        if (identity.client.current === written) await unlessAborted(next, signal)
      }
    },
    async clear(signal) {
      const data = Object.fromEntries(kept.map((name) => [keyOf(name), null]))
      try {
        await secrets.patch({ ...key, type: 'merge', patch: { data } }, signal)
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error
      }
    },
  }
}

function parseKey(text: string): { namespace: string; name: string } {
  const [namespace = '', name = '', ...more] = text.split('/')
  if (namespace !== '' && name !== '' && more.length === 0) return { namespace, name }
  throw new ExpectedError(
    `Cannot keep identity in ${JSON.stringify(text)}: use --identity-secret <namespace>/<name>`,
    exitCodes.usage,
  )
}

function textsOf({ data = {} }: Secret): Record<string, string> {
  const texts = Object.entries(data).map(([name, value]) => [
    name,
    Buffer.from(value, 'base64').toString('utf8'),
  ])
  return Object.fromEntries(texts)
}

/** Returns the Secret's data, by the files' names. */
function contentsOf(
  { certificatePem, privateKeyPem }: CertificateAndKey,
  authorityPem: string,
): Readonly<Record<string, string>> {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  return {
    'agent.key': base64(privateKeyPem),
    'agent.crt': base64(certificatePem),
    'ca.crt': base64(authorityPem),
  }
}

/** A damaged certificate ends before any other. */
function endOf(certificatePem: string): number {
  try {
    return validityOf(certificatePem).notAfterMs
  } catch {
    // The code that uses the file reports its error.
    return -Infinity
  }
}

/** Waits for an API server that is away. If the Secret or the right to it is missing, a person must act. */
async function patiently<T>(
  { clock, random, log }: RoleContext,
  signal: AbortSignal,
  attempt: () => Promise<T>,
): Promise<T> {
  const backoff = createBackoff(agentBounds.identitySecret.retry, random)
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      signal.throwIfAborted()
      if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) {
        throw new ExpectedError(
          `Cannot keep identity: ${error.message}; apply the manifest of "skerry cluster join-command --manifest"`,
          exitCodes.missingRight,
          { cause: error },
        )
      }
      logFailure(log, {
        subject: 'Keep identity',
        message: 'Identity Secret not reached yet',
        error,
      })
      await clock.sleep(backoff.nextMs(), signal)
    }
  }
}
