import { checkDnsSubdomain, isStatusError, type StatusError } from '@skerry/api'
import type { Attributes, Authorizer, UserInfo } from '../contract/access.ts'
import { forbidden, requireAllowed } from '../authz/authorizer-chain.ts'
import type { RequestAttributes } from '../contract/request-attributes.ts'
import { extraKeys, splitServiceAccountName, systemGroups } from '../contract/user-names.ts'

/** The user that a request's headers name. */
export interface WantedUser {
  readonly name: string
  readonly groups: readonly string[]
  readonly uid: string
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/**
 * A mode of impersonation (KEP-5284). All except `legacy` are constrained: they require one right
 * to impersonate while doing what the request does, and one to impersonate that user.
 */
export interface ImpersonationMode {
  readonly name: string
  readonly isConstrained: boolean
  readonly applies: (wanted: WantedUser, asker: UserInfo) => boolean
}

/** Ordered as upstream, the narrowest first. */
export const impersonationModes: readonly ImpersonationMode[] = Object.freeze([
  {
    name: 'associated-node',
    isConstrained: true,
    applies: (wanted, asker) => isOnlyName(wanted) && isOnNode(asker, nodeOf(wanted.name)),
  },
  {
    name: 'arbitrary-node',
    isConstrained: true,
    applies: (wanted) => isOnlyName(wanted) && nodeOf(wanted.name) !== undefined,
  },
  {
    name: 'serviceaccount',
    isConstrained: true,
    applies: (wanted) => isOnlyName(wanted) && splitServiceAccountName(wanted.name) !== undefined,
  },
  {
    name: 'user-info',
    isConstrained: true,
    applies: ({ name }) =>
      nodeOf(name) === undefined && splitServiceAccountName(name) === undefined,
  },
  { name: 'legacy', isConstrained: false, applies: () => true },
])

const authentication = 'authentication.k8s.io'
/** From this number on, one question about all of them is asked before one about each. */
const manyQuestions = 4

interface ModeRequest {
  readonly asker: UserInfo
  readonly wanted: WantedUser
  /** Returns the request's own attributes. Only constrained modes call this. */
  readonly own: () => RequestAttributes
}

/** Returns the groups of the user that may be impersonated. Throws Forbidden. */
export async function requireMode(
  mode: ImpersonationMode,
  { asker, wanted, own }: ModeRequest,
  authorizer: Authorizer,
): Promise<readonly string[]> {
  const ask = questionsOf(mode, asker, authorizer)
  if (mode.isConstrained) {
    const attributes = own()
    await ask.raw({ ...attributes, verb: `impersonate-on:${mode.name}:${attributes.verb}` })
  }
  const node = mode.isConstrained ? nodeOf(wanted.name) : undefined
  const account = splitServiceAccountName(wanted.name)
  const common = { group: mode.isConstrained ? authentication : '' }
  if (account) await ask.about({ ...common, resource: 'serviceaccounts', ...account })
  else if (node !== undefined) await ask.about({ ...common, resource: 'nodes', name: node })
  else await ask.about({ ...common, resource: 'users', name: wanted.name })
  if (wanted.uid !== '') {
    await ask.about({ group: authentication, resource: 'uids', name: wanted.uid })
  }
  await requireGroups(mode, wanted.groups, ask)
  await requireExtra(mode, wanted.extra, ask)
  return node === undefined ? wanted.groups : [systemGroups.nodes]
}

/** One impersonated property, which needs a right of its own. */
interface Claim {
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name: string
}

interface Questions {
  readonly raw: (asked: Omit<Attributes, 'user'>) => Promise<void>
  readonly about: (claim: Claim) => Promise<void>
  readonly refuse: (claim: Claim, why: string) => StatusError
}

function questionsOf(mode: ImpersonationMode, asker: UserInfo, authorizer: Authorizer): Questions {
  const verb = mode.isConstrained ? `impersonate:${mode.name}` : 'impersonate'
  const isAssociated = mode.name === 'associated-node'
  const user = isAssociated ? withoutExtra(asker) : asker
  const toQuestion = ({ group, resource, ...rest }: Claim): Attributes => ({
    ...rest,
    // A right for the node that the asker runs on is the same on every node.
    ...(isAssociated ? { name: '*' } : {}),
    user,
    verb,
    isResourceRequest: true,
    resource: { group, version: 'v1', resource },
    path: '',
  })
  return {
    raw: (asked) => requireAllowed(authorizer, { ...asked, user }),
    about: (claim) => requireAllowed(authorizer, toQuestion(claim)),
    refuse: (claim, why) => forbidden(toQuestion(claim), why),
  }
}

/** The server has compared the nodes; which one it is must not matter. */
function withoutExtra(asker: UserInfo): UserInfo {
  const keys = Object.keys(asker.extra).toSorted()
  return { ...asker, extra: { 'authentication.kubernetes.io/associated-node-keys': keys } }
}

async function requireGroups(
  { isConstrained }: ImpersonationMode,
  groups: readonly string[],
  ask: Questions,
): Promise<void> {
  const group = isConstrained ? authentication : ''
  const claim = (name: string): Claim => ({ group, resource: 'groups', name })
  if (isConstrained) {
    const denied = ['', systemGroups.masters].find((name) => groups.includes(name))
    if (denied !== undefined) {
      throw ask.refuse(
        claim(denied),
        `impersonating the group ${JSON.stringify(denied)} is not allowed`,
      )
    }
    if (groups.length >= manyQuestions && (await isAllowed(() => ask.about(claim('*'))))) return
  }
  for (const name of groups) await ask.about(claim(name))
}

async function requireExtra(
  { isConstrained }: ImpersonationMode,
  extra: WantedUser['extra'],
  ask: Questions,
): Promise<void> {
  const claim = (subresource: string, name: string): Claim => ({
    group: authentication,
    resource: 'userextras',
    subresource,
    name,
  })
  const all = Object.entries(extra).flatMap(([key, values]) =>
    values.map((value) => ({ key, value })),
  )
  if (isConstrained) {
    const wrong = all.find(({ key, value }) => value === '' || !isExtraKey(key))
    if (wrong) {
      const why = `impersonating extra ${JSON.stringify(wrong.key)} needs a key as acme.com/project and values`
      throw ask.refuse(claim('', ''), why)
    }
    if (all.length >= manyQuestions && (await isAllowed(() => ask.about(claim('*', '*'))))) return
  }
  for (const { key, value } of all) await ask.about(claim(key, value))
}

async function isAllowed(ask: () => Promise<void>): Promise<boolean> {
  try {
    await ask()
    return true
  } catch (error) {
    if (!isStatusError(error, 'Forbidden')) throw error
    return false
  }
}

/** A path below a domain in lower case. */
function isExtraKey(key: string): boolean {
  const slash = key.indexOf('/')
  const [domain, path] = [key.slice(0, slash), key.slice(slash + 1)]
  if (slash < 0 || key !== key.toLowerCase()) return false
  return checkDnsSubdomain(domain).length === 0 && /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(path)
}

function isOnlyName({ groups, uid, extra }: WantedUser): boolean {
  return groups.length === 0 && uid === '' && Object.keys(extra).length === 0
}

const nodePrefix = 'system:node:'

/** Returns the node that a user name stands for, whatever groups it has. */
function nodeOf(userName: string): string | undefined {
  if (!userName.startsWith(nodePrefix)) return undefined
  const name = userName.slice(nodePrefix.length)
  return checkDnsSubdomain(name).length === 0 ? name : undefined
}

/** Returns true for a service account whose token is bound to a pod or a node there. */
function isOnNode({ name, extra }: UserInfo, node: string | undefined): boolean {
  if (node === undefined || splitServiceAccountName(name) === undefined) return false
  const [only, ...more] = extra[extraKeys.nodeName] ?? []
  return only === node && more.length === 0
}
