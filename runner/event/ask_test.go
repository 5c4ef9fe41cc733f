package event

import "testing"

// Each word can be said in a sentence.
func TestWordsCanBeSaid(t *testing.T) {
	for _, w := range Words {
		if w.Past() == "" {
			t.Errorf("%s has no past", w)
		}
	}
}

// One revision settles an approval, whatever others have said.
func TestRevisionSettles(t *testing.T) {
	a := Ask{Kind: AskApproval, Quorum: 3, Rejections: 2, Approvers: []string{"ann", "bob", "eve"}}
	votes := []Decision{{By: "ann", Word: WordApprove}, {By: "bob", Word: WordApprove}}
	if word, _ := a.Settle(votes); word != "" {
		t.Errorf("two of three: %s", word)
	}
	word, by := a.Settle(AddVote(votes, Decision{By: "eve", Word: WordRevise}))
	if word != WordRevise || len(by) != 1 || by[0] != "eve" {
		t.Errorf("%s by %v", word, by)
	}
}
