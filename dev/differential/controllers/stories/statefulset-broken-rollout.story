# A template that never runs stops the rollout; a good one does not replace the broken pod by itself.

### two run
create
  kind: StatefulSet
  metadata: {name: web}
  spec:
    replicas: 2
    serviceName: web
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
evolve

### broken
patch statefulsets/web {spec: {template: {spec: {containers: [{name: main, image: "broken"}]}}}}

### good again
patch statefulsets/web {spec: {template: {spec: {containers: [{name: main, image: "a:1"}]}}}}

### the broken one is deleted
delete pods/web-1
evolve
