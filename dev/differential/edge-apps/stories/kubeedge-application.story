# The children of an EdgeApplication: overriders, edits by hand, targets and manifests that come and go.
Show: deployments, services, statefulsets, edgeapplications
Counts: vary
Quiet: 6s

### an application for two groups, of which one exists, and for labels
create
  kind: NodeGroup
  metadata: {name: ka-g1}
  spec: {nodes: [ka-1]}
create
  kind: Node
  metadata: {name: ka-1}
create
  kind: EdgeApplication
  metadata: {name: shop}
  spec:
    workloadTemplate:
      manifests:
        - apiVersion: v1
          kind: Service
          metadata: {name: web, namespace: ${ns}}
          spec: {selector: {app: web}, ports: [{port: 80, targetPort: 80}], clusterIP: None}
        - apiVersion: apps/v1
          kind: StatefulSet
          metadata: {name: db, namespace: ${ns}}
          spec:
            replicas: 1
            serviceName: db
            selector: {matchLabels: {app: db}}
            template:
              metadata: {labels: {app: db}}
              spec: {containers: [{name: c, image: "db:1"}]}
        - apiVersion: apps/v1
          kind: Deployment
          metadata: {name: web, namespace: ${ns}, labels: {team: a}, annotations: {note: hello}}
          spec:
            replicas: 1
            selector: {matchLabels: {app: web}}
            template:
              metadata: {labels: {app: web}}
              spec:
                containers:
                  - name: c
                    image: reg.io/team/web:1.0
                    args: [a, b]
                    env: [{name: A, value: "1"}, {name: B, value: "2"}]
                    resources: {requests: {cpu: 100m}, limits: {memory: 32Mi}}
                  - name: d
                    image: team/side
        - apiVersion: v1
          kind: ConfigMap
          metadata: {name: web, namespace: ${ns}}
          data: {greeting: hello}
    workloadScope:
      targetNodeGroups:
        - name: ka-g1
          overriders:
            replicas: 2
            imageOverriders:
              - {component: Registry, operator: replace, value: "mirror.local:5000"}
              - {component: Tag, operator: replace, value: "2.0"}
              - {component: Repository, operator: add, value: "-edge", predicate: {path: /spec/template/spec/containers/0/image}}
            envOverriders:
              - {containerName: c, operator: remove, value: [{name: B}]}
              - {containerName: c, operator: replace, value: [{name: A, value: "9"}]}
              - {containerName: c, operator: add, value: [{name: C, value: "3"}]}
            commandOverriders:
              - {containerName: c, operator: add, value: [serve]}
            argsOverriders:
              - {containerName: c, operator: remove, value: [a]}
            resourcesOverriders:
              - {containerName: c, value: {limits: {memory: 64Mi}}}
        - name: nogroup
      targetNodeLabels:
        - labelSelector: {matchLabels: {hall: h9}}
          overriders: {replicas: 3}

### the pods run
evolve

### a child is scaled by hand
patch deployments/web-ka-g1 {spec: {replicas: 4}}

### a child is deleted
delete deployments/web-nogroup

### the other group is no target any more
patch edgeapplications/shop
  spec:
    workloadScope:
      targetNodeGroups: [{name: ka-g1, overriders: {replicas: 2}}]
      targetNodeLabels: []

### the application goes
delete edgeapplications/shop
