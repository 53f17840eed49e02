# Endpoints that somebody writes become slices.
Show: endpoints, endpointslices, events

### endpoints with and without a service
create
  kind: Service
  metadata: {name: out, labels: {of: service}}
  spec: {ports: [{port: 80}]}
create
  kind: Endpoints
  metadata: {name: out, labels: {team: a}, annotations: {note: x, endpoints.kubernetes.io/last-change-trigger-time: "2026-01-01T00:00:00Z"}}
  subsets:
  - addresses: [{ip: 10.2.0.4, hostname: one, nodeName: n1}]
    notReadyAddresses: [{ip: 10.2.0.5}]
    ports: [{name: http, port: 80}]
  - addresses: [{ip: 10.2.0.6}]
    ports: [{name: https, port: 443, appProtocol: https}]
create
  kind: Endpoints
  metadata: {name: alone}
  subsets: [{addresses: [{ip: 10.2.0.7}], ports: [{port: 1}]}]

### six and four
patch endpoints/out
  subsets:
  - addresses: [{ip: 10.2.0.4}, {ip: "fd00::1"}]
    ports: [{name: http, port: 80}]

### not to be mirrored
patch endpoints/out {metadata: {labels: {endpointslice.kubernetes.io/skip-mirror: "true"}}}

### again
patch endpoints/out {metadata: {labels: {endpointslice.kubernetes.io/skip-mirror: null}}}

### the service has a selector now
patch services/out {spec: {selector: {app: none}}}

### the endpoints go
patch services/out {spec: {selector: null}}
delete endpoints/out
