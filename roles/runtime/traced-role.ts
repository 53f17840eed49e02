import { randomUUID } from 'node:crypto'
import { createOtlpTracing, readTracingConfig } from '@skerry/apiserver'
import { readText } from './read-config-file.ts'
import type { RoleContext } from './role-context.ts'
import { version } from './version.ts'

export interface TracedRole {
  readonly role: string
  /** A TracingConfiguration. */
  readonly path: string
}

/** A site is to a collector what kube-apiserver is. */
const serviceNames: Readonly<Record<string, string>> = Object.freeze({ site: 'apiserver' })

/** Runs a role with a tracer; the spans that wait go out at its end. Throws ExpectedError. */
export async function runTraced(
  { role, path }: TracedRole,
  context: RoleContext,
  run: (context: RoleContext) => Promise<void>,
): Promise<void> {
  const config = readTracingConfig(await readText(path))
  const resource = {
    'service.name': serviceNames[role] ?? `skerry-${role}`,
    'service.instance.id': randomUUID(),
  }
  await using tracing = await createOtlpTracing({ ...config, resource, version }, context)
  await run({ ...context, tracer: tracing.tracer })
}
