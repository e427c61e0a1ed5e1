package broker

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/metadata"
)

// handleDescribeConfigs serves DescribeConfigs, key 32, versions 1 to 4, for
// topics and for this broker: every key that it obeys, its value, where that
// comes from (KIP-226), and from version 3 on what it means (KIP-569).
func (r *router) handleDescribeConfigs(conn node.ConnID, m *node.Message) {
	req := m.Request.(*kmsg.DescribeConfigsRequest)
	res := kmsg.NewPtrDescribeConfigsResponse()
	for _, asked := range req.Resources {
		d := describedResource{router: r, req: req, asked: asked, res: kmsg.NewDescribeConfigsResponseResource()}
		d.res.ResourceType, d.res.ResourceName = asked.ResourceType, asked.ResourceName
		d.describe()
		res.Resources = append(res.Resources, d.res)
	}
	r.reply(conn, m, res)
}

// describedResource is one resource of the request and its answer.
type describedResource struct {
	router *router
	req    *kmsg.DescribeConfigsRequest
	asked  kmsg.DescribeConfigsRequestResource
	res    kmsg.DescribeConfigsResponseResource
}

func (d *describedResource) fail(code kafka.ErrorCode, text string) {
	d.res.ErrorCode, d.res.ErrorMessage = int16(code), &text
}

func (d *describedResource) describe() {
	name := d.asked.ResourceName
	switch d.asked.ResourceType {
	case kmsg.ConfigResourceTypeTopic:
		if kafka.ValidateTopicName(name) != nil {
			d.fail(kafka.InvalidTopic, "the topic name is not valid")
		} else if _, ok := d.router.image.Topic(name); !ok {
			d.fail(kafka.UnknownTopicOrPartition, "")
		} else {
			d.add(kafka.TopicScope)
		}
	case kmsg.ConfigResourceTypeBroker:
		if self := itoa(int64(d.router.cfg.ID)); name != self && name != "" {
			d.fail(kafka.InvalidRequest, fmt.Sprintf("this is broker %s, which knows its own configuration alone: ask broker %s for that of %s", self, name, name))
		} else {
			d.add(kafka.BrokerScope)
		}
	default:
		d.fail(kafka.InvalidRequest, fmt.Sprintf("resource type %d has no configuration here: ask for a topic (2) or a broker (4)", d.asked.ResourceType))
	}
}

// add lists the keys of a scope, or those of them that were asked for.
func (d *describedResource) add(scope kafka.Scope) {
	for _, def := range kafka.Definitions(scope) {
		if d.asked.ConfigNames == nil || slices.Contains(d.asked.ConfigNames, def.Key) {
			d.res.Configs = append(d.res.Configs, d.entry(scope, def))
		}
	}
}

func (d *describedResource) entry(scope kafka.Scope, def kafka.Definition) kmsg.DescribeConfigsResponseResourceConfig {
	values := d.values(scope, def)
	c := kmsg.NewDescribeConfigsResponseResourceConfig()
	c.Name, c.Value, c.Source = def.Key, &values[0].value, values[0].source
	c.ReadOnly = scope == kafka.BrokerScope && !dynamicKey(def.Key)
	c.ConfigType = configTypeOf(def)
	if d.req.IncludeSynonyms {
		for _, v := range values {
			s := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
			s.Name, s.Value, s.Source = v.key, &v.value, v.source
			c.ConfigSynonyms = append(c.ConfigSynonyms, s)
		}
	}
	if d.req.IncludeDocumentation {
		c.Documentation = kmsg.StringPtr(def.Doc)
	}
	return c
}

// sourcedValue is a value and where it stands.
type sourcedValue struct {
	key, value string
	source     kmsg.ConfigSource
}

// values are all values given for a key, that in force first, the default last.
func (d *describedResource) values(scope kafka.Scope, def kafka.Definition) []sourcedValue {
	var all []sourcedValue
	add := func(key string, source kmsg.ConfigSource, value string, given bool) {
		if given {
			all = append(all, sourcedValue{key, value, source})
		}
	}
	stored := func(t metadata.ResourceType, name, key string, source kmsg.ConfigSource) {
		value, given := d.router.image.ConfigValue(t, name, key)
		add(key, source, value, given)
	}
	key := def.Key
	if scope == kafka.TopicScope {
		stored(metadata.TopicResource, d.asked.ResourceName, key, kmsg.ConfigSourceDynamicTopicConfig)
		key = def.Broker
	}
	cfg := &d.router.cfg
	stored(metadata.BrokerResource, itoa(int64(cfg.ID)), key, kmsg.ConfigSourceDynamicBrokerConfig)
	stored(metadata.BrokerResource, "", key, kmsg.ConfigSourceDynamicDefaultBrokerConfig)
	if cfg.Properties.Set(key) {
		add(key, kmsg.ConfigSourceStaticBrokerConfig, cfg.Properties.Text(key), true)
	}
	add(key, kmsg.ConfigSourceDefaultConfig, def.Default, true)
	return all
}

// dynamicKey tells whether Kafka lets a broker key be changed while it runs:
// among those here, the defaults of topics (KIP-226).
func dynamicKey(key string) bool {
	return slices.ContainsFunc(kafka.Definitions(kafka.TopicScope), func(d kafka.Definition) bool { return d.Broker == key })
}

// configTypeOf is Kafka's type of a key.
func configTypeOf(d kafka.Definition) kmsg.ConfigType {
	switch {
	case d.Type == kafka.BoolType:
		return kmsg.ConfigTypeBoolean
	case d.Type == kafka.IntType && d.Max > 1<<31-1:
		return kmsg.ConfigTypeLong
	case d.Type == kafka.IntType:
		return kmsg.ConfigTypeInt
	case d.Type == kafka.RatioType:
		return kmsg.ConfigTypeDouble
	case d.Key == kafka.CleanupPolicy || d.Key == "log.cleanup.policy":
		return kmsg.ConfigTypeList
	}
	return kmsg.ConfigTypeString
}
