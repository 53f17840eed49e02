# Scaled in the middle of a rollout: all replica sets grow and shrink in proportion.

### six run
create
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 6
    strategy: {rollingUpdate: {maxSurge: 3, maxUnavailable: 2}}
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
settle
run

### stuck in a rollout
patch deployments/web {spec: {template: {spec: {containers: [{name: main, image: "nothere"}]}}}}

### nine
patch deployments/web/scale {spec: {replicas: 9}}

### three
patch deployments/web/scale {spec: {replicas: 3}}

### none
patch deployments/web/scale {spec: {replicas: 0}}
