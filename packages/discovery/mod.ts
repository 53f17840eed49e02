/**
 * discovery: writes the documents by which clients learn what a server serves: groups, resources and
 * OpenAPI. Pure: no I/O and no node: imports. Callers pass the kinds; it knows none by name.
 * Start reading at groups/discovery.ts, then openapi/definitions.ts.
 */
export {
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  type ApiGroup,
  type ApiResource,
} from './groups/discovery.ts'
export {
  aggregatedContentType,
  aggregatedDiscovery,
  aggregatedVersionOf,
  type ApiGroupDiscovery,
  type ApiGroupDiscoveryList,
  type ApiResourceDiscovery,
} from './groups/aggregated-discovery.ts'
export type { OpenApiInput } from './openapi/definitions.ts'
export { openApiV2Document } from './openapi/open-api-v2.ts'
export { openApiV3Document, openApiV3Index } from './openapi/open-api-v3.ts'
export { loadDescriptions } from './openapi/descriptions.ts'
export { describedLikeAll } from './openapi/custom-definition.ts'
