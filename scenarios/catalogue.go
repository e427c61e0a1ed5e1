package scenarios

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"tidemark/model/plan"
)

//go:embed stories/*.txt
var storyFiles embed.FS

// storyDir is where the stories lie, from this package's folder.
const storyDir = "stories"

// Story is a plan of the catalogue.
type Story struct {
	ID    string // of its file, such as R1
	Name  string // such as hw-truncation
	Title string // one line
	Plan  *plan.Plan
	Text  string // of its file
}

// Stories are all stories, in order of their ids.
func Stories() []Story {
	entries, err := storyFiles.ReadDir(storyDir)
	if err != nil {
		panic("the embedded stories cannot be listed: " + err.Error())
	}
	var stories []Story
	for _, e := range entries {
		stories = append(stories, mustStory(e.Name()))
	}
	return stories
}

func mustStory(file string) Story {
	text, err := storyFiles.ReadFile(path.Join(storyDir, file))
	if err != nil {
		panic("the embedded story " + file + " cannot be read: " + err.Error())
	}
	s, err := ParseStory(file, string(text))
	if err != nil {
		panic("the embedded story is not valid: " + err.Error())
	}
	return s
}

// ParseStory reads a scenario file whose first line of prose is
// "ID NAME: TITLE". The id must be the file's name without its ending.
func ParseStory(file, text string) (Story, error) {
	p, err := Parse(file, text)
	if err != nil {
		return Story{}, err
	}
	s := Story{ID: p.Name, Plan: p, Text: text}
	if len(p.Prose) > 0 {
		head, title, _ := strings.Cut(p.Prose[0], ": ")
		id, name, _ := strings.Cut(head, " ")
		s.Name, s.Title = name, title
		if id != s.ID {
			return Story{}, fmt.Errorf("%s:1: the story calls itself %q: its first line must begin \"# %s NAME: \"", file, id, s.ID)
		}
	}
	return s, nil
}

// Find returns the story with that id or name, whatever the case.
func Find(idOrName string) (Story, bool) {
	for _, s := range Stories() {
		if strings.EqualFold(s.ID, idOrName) || strings.EqualFold(s.Name, idOrName) {
			return s, true
		}
	}
	return Story{}, false
}
