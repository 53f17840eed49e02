import { useState } from 'react'
import { listPath, objectPath } from '../../data/hub/api-paths.ts'
import { browserClock } from '../../data/browser/browser-clock.ts'
import { useWatched } from '../../data/streams/console-context.tsx'
import {
  edgeClusters,
  wishPatch,
  type EdgeClusterObject,
  type EdgeWish,
} from '../../data/edge/edge-cluster.ts'
import { asHubError, type HubError } from '../../data/hub/hub-error.ts'
import { askHub, askJson } from '../../data/hub/hub-request.ts'
import { removeLogin, withLogins, type LoginSecret } from '../../data/hub/login-secret.ts'
import { timeLimits } from '../../limits-table.ts'
import { edgeClusterOf, loginsOf, type ClusterForm } from './cluster-form.ts'
import { edgeClustersPath } from './use-dry-run.ts'

export interface MachineCheck {
  /** The object of the check as the hub has it; undefined before the first check. */
  readonly edge: EdgeClusterObject | undefined
  readonly isBegun: boolean
  /** The form has not been changed since. */
  readonly isCurrent: boolean
  /** Lets the hub log in to each machine; again with what the form says now. */
  readonly begin: () => Promise<void>
  /** Makes the cluster of the check. */
  readonly make: () => Promise<void>
  readonly ask: (wish: EdgeWish) => Promise<void>
  /** Removes the object and the logins that were made for it. */
  readonly forget: () => Promise<void>
}

interface Begun {
  readonly form: ClusterForm
  readonly namespace: string
  readonly name: string
  readonly logins: readonly LoginSecret[]
}

/** Checks the machines by an edge cluster of mode Check, which becomes the cluster if somebody wants it. */
export function useMachineCheck(form: ClusterForm): MachineCheck {
  const [begun, setBegun] = useState<Begun>()
  const edge = useEdge(begun)
  const path = begun === undefined ? '' : edgePath(begun)
  const patch = (body: unknown): Promise<unknown> =>
    askHub(path, { method: 'PATCH', body, contentType: 'application/merge-patch+json' })
  return {
    edge,
    isBegun: begun !== undefined,
    isCurrent: begun?.form === form,
    async begin() {
      const changed = begun === undefined ? undefined : await change(form, begun, path)
      if (changed !== undefined) return setBegun(changed)
      if (begun !== undefined) {
        await removeCheck(begun)
        setBegun(undefined)
      }
      setBegun(await create(form))
    },
    async make() {
      await patch(wishPatch({ ask: 'make' }))
    },
    async ask(wish) {
      await patch(wishPatch(wish))
    },
    async forget() {
      if (begun !== undefined) await removeCheck(begun)
      setBegun(undefined)
    },
  }
}

function useEdge(begun: Begun | undefined): EdgeClusterObject | undefined {
  const { namespace = '', name = '' } = begun ?? {}
  const path = name === '' ? undefined : ownList({ namespace, name })
  const view = useWatched(path)
  // The hub's own kind.
  return view.items.get(`${namespace}/${name}`) as EdgeClusterObject | undefined
}

function edgePath({ namespace, name }: Begun): string {
  return objectPath(undefined, { ...edgeClusters, namespace, name })
}

async function create(form: ClusterForm): Promise<Begun> {
  const logins = loginsOf(form)
  await withLogins(logins, async () => {
    const request = { method: 'POST', body: edgeClusterOf(form, 'Check') } as const
    await askJson(edgeClustersPath(form), request)
  })
  const { namespace, name } = form
  return { form, namespace, name, logins }
}

/**
 * Writes the present form with new Secrets, and lets the hub look again; keys that were accepted stay so. Resolves undefined
 * if the hub forbids the change, such as another master: then only a new object helps.
 */
async function change(form: ClusterForm, begun: Begun, path: string): Promise<Begun | undefined> {
  const { namespace, name } = begun
  const logins = loginsOf({ ...form, namespace, name })
  const { spec } = edgeClusterOf(form, 'Check')
  const body = [
    { op: 'replace', path: '/spec', value: spec },
    { op: 'add', path: '/metadata/annotations', value: { 'hub.skerry.io/retry': '*' } },
  ]
  const request = { method: 'PATCH', body, contentType: 'application/json-patch+json' } as const
  try {
    await askJson(`${path}?dryRun=All`, request)
  } catch (thrown) {
    if (isForbiddenChange(asHubError(thrown))) return undefined
    throw thrown
  }
  for (const login of begun.logins) await removeIfThere(login)
  await withLogins(logins, () => askJson(path, request))
  return { form, namespace, name, logins }
}

function isForbiddenChange({ facts: { causes = [] } }: HubError): boolean {
  return causes.some(({ reason }) => reason === 'FieldValueForbidden')
}

/** Resolves when the object is gone, and the name free. The hub removes its logins with it. */
async function removeCheck(begun: Begun): Promise<void> {
  await askHub(edgePath(begun), { method: 'DELETE' })
  const signal = browserClock.limit(timeLimits.checkGoneMs)
  for (;;) {
    const { items } = await askJson<{ readonly items: readonly unknown[] }>(ownList(begun), {
      signal,
    })
    if (items.length === 0) return
    await pause(timeLimits.pauseMs)
  }
}

function ownList({ namespace, name }: Pick<Begun, 'namespace' | 'name'>): string {
  const selector = encodeURIComponent(`metadata.name=${name}`)
  return `${listPath(undefined, edgeClusters, namespace)}?fieldSelector=${selector}`
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    browserClock.after(ms, resolve)
  })
}

async function removeIfThere(login: LoginSecret): Promise<void> {
  try {
    await removeLogin(login)
  } catch (thrown) {
    if (!asHubError(thrown).isMissing) throw thrown
  }
}
