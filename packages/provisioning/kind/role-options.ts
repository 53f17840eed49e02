import type { KindTexts, Schema } from '@skerry/api'

/** Options of the roles. Those of a role that is named replace all that were configured before. */
export interface Configuration {
  site?: SiteOptionsChoice
  node?: NodeOptionsChoice
}

type LogLevelChoice = 'error' | 'info' | 'debug'

interface SiteOptionsChoice {
  logLevel?: LogLevelChoice
  /** Whether the site serves metrics.k8s.io itself; default true. */
  metricsAPI?: boolean
  /** Entries such as `ClusterTrustBundle=true`. */
  featureGates?: string[]
  /** Entries such as `api/beta=true`. */
  runtimeConfig?: string[]
}

interface NodeOptionsChoice {
  logLevel?: LogLevelChoice
  /** Addresses that no service may take. */
  reservedAddresses?: string[]
}

const fieldsOf = Object.freeze({
  site: ['logLevel', 'metricsAPI', 'featureGates', 'runtimeConfig'],
  node: ['logLevel', 'reservedAddresses'],
} as const satisfies {
  readonly [role in keyof Configuration]-?: readonly (keyof NonNullable<Configuration[role]>)[]
})

/** Returns the merge patch of a status after which it has exactly these options for each role that is named. */
export function configurationPatch({ site, node }: Configuration): object {
  return {
    ...(site === undefined ? {} : { site: exactly(site, fieldsOf.site) }),
    ...(node === undefined ? {} : { node: exactly(node, fieldsOf.node) }),
  }
}

/** A merge keeps fields that it does not name. */
function exactly(choice: object, fields: readonly string[]): object | null {
  const options = new Map<string, unknown>(Object.entries(choice))
  if (options.size === 0) return null
  return Object.fromEntries(fields.map((name) => [name, options.get(name) ?? null]))
}

const text: Schema = { type: 'string' }
const texts: Schema = { type: 'array', items: text }

/** Returns the schemas of a Configuration whose names begin with that of a kind. */
export function configurationSchemas(kind: string): Readonly<Record<string, Schema>> {
  return {
    [`${kind}Configuration`]: {
      type: 'object',
      properties: { site: { ref: `${kind}SiteOptions` }, node: { ref: `${kind}NodeOptions` } },
    },
    [`${kind}SiteOptions`]: {
      type: 'object',
      properties: {
        logLevel: text,
        metricsAPI: { type: 'boolean' },
        featureGates: texts,
        runtimeConfig: texts,
      },
    },
    [`${kind}NodeOptions`]: {
      type: 'object',
      properties: { logLevel: text, reservedAddresses: texts },
    },
  }
}

/** Returns the texts of the same fields. */
export function configurationTexts(kind: string): KindTexts {
  return {
    [`${kind}Configuration`]: {
      description:
        'Options. Those of a role that is named replace all that were configured before.',
      fields: { site: 'Options of sites, on masters.', node: 'Options of nodes.' },
    },
    [`${kind}SiteOptions`]: {
      description: 'Options of a site.',
      fields: {
        logLevel: 'error, info or debug.',
        metricsAPI: 'Whether the site serves metrics.k8s.io itself; default true.',
        featureGates: 'Entries such as ClusterTrustBundle=true.',
        runtimeConfig: 'Entries such as api/beta=true.',
      },
    },
    [`${kind}NodeOptions`]: {
      description: 'Options of a node.',
      fields: {
        logLevel: 'error, info or debug.',
        reservedAddresses: 'Addresses that no service may take.',
      },
    },
  }
}
